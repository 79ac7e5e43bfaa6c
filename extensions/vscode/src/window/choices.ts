/**
 * Questions with a few answers, one after the other, each in a list that stays open.
 *
 * Escape leaves a question waiting. It goes when nobody waits for its answer any more.
 */

import * as vscode from "vscode";

import { ActionError } from "../protocol/frames.ts";
import { showText } from "./shown.ts";
import type { Question } from "./texts.ts";
import type { Dialog, Turns } from "./turns.ts";

interface Item extends vscode.QuickPickItem {
  readonly choose: () => void;
}

interface Waiting {
  readonly title: string;
  readonly placeholder: string;
  readonly whole: string;
  readonly items: readonly Item[];
}

const WHOLE = { iconPath: new vscode.ThemeIcon("eye"), tooltip: "Show all of it" };

export class Choices implements Dialog, vscode.Disposable {
  readonly #turns: Turns;
  readonly #waiting: Waiting[] = [];
  #list: vscode.QuickPick<Item> | undefined;

  constructor(turns: Turns) {
    this.#turns = turns;
    turns.add(this);
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  get isOpen(): boolean {
    return this.#list !== undefined;
  }

  /** Returns what the person chooses; rejects with `E_CANCELLED` where nobody waits any more. */
  async ask<T>(
    question: Question<T>,
    signal: AbortSignal,
    open: (waiting: boolean) => void,
  ): Promise<T> {
    let mine: Waiting | undefined;
    open(true);
    try {
      return await new Promise<T>((done, failed) => {
        const gone = (): void => { failed(new ActionError("E_CANCELLED", "nobody waits for the answer")); };
        if (signal.aborted) gone();
        signal.addEventListener("abort", gone, { once: true });
        const items = question.choices.map(({ label, detail, value }) => ({
          label, detail, alwaysShow: true, choose: () => { done(value); },
        }));
        mine = { ...question, items };
        this.#waiting.push(mine);
        this.#turns.ask(this);
      });
    } finally {
      open(false);
      if (mine !== undefined) this.#ended(mine);
    }
  }

  /** Shows the question that waits longest. */
  show(): void {
    const [first] = this.#waiting;
    if (first === undefined) return;
    if (this.#list === undefined) {
      const list = vscode.window.createQuickPick<Item>();
      list.ignoreFocusOut = true;
      list.title = first.title;
      list.placeholder = first.placeholder;
      list.items = first.items;
      list.buttons = [WHOLE];
      list.onDidTriggerButton(() => void showText("plaintext", first.whole));
      list.onDidAccept(() => { list.activeItems[0]?.choose(); });
      list.onDidHide(() => {
        list.dispose();
        if (this.#list === list) this.#list = undefined;
        this.#turns.changed();
      });
      this.#list = list;
    }
    this.#list.show();
  }

  #ended(which: Waiting): void {
    const place = this.#waiting.indexOf(which);
    this.#waiting.splice(place, 1);
    const list = this.#list;
    if (place === 0 && list !== undefined) {
      this.#list = undefined;
      list.hide();
      this.#turns.next();
    }
    this.#turns.changed();
  }

  dispose(): void {
    this.#list?.dispose();
    this.#list = undefined;
  }
}

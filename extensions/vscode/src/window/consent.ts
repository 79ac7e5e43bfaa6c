/**
 * Consent: actions that wait for a person, in one list that stays open.
 *
 * Ticked ones are allowed and the others refused; Escape leaves them waiting. A person ticks them:
 * one that comes while the list is read is not allowed by the same key.
 */

import * as vscode from "vscode";

import {
  type Action,
  ActionError,
  type ActionEvent,
  type Observation,
  type WaitingCall,
} from "../protocol/frames.ts";
import { showText } from "./shown.ts";
import { rowOf, rowOfCall, wholeOf, wholeOfCall } from "./texts.ts";
import type { Dialog, Turns } from "./turns.ts";

export type Asks = "everything" | "commands" | "nothing";

/** An answer; `all`: the person allowed everything, also what comes later. */
type Answer = "allow" | "refuse" | "all";

interface Waiting {
  readonly item: Item;
  /** Of a call of a run that may be made; null: an action of this window. */
  readonly call: WaitingCall | null;
  readonly answer: (answer: Answer) => void;
}

interface Item extends vscode.QuickPickItem {
  readonly id: string;
  /** All that it says. */
  readonly whole: () => string;
}

const WHOLE = { iconPath: new vscode.ThemeIcon("eye"), tooltip: "Show all of it" };
const DIFF = { iconPath: new vscode.ThemeIcon("diff"), tooltip: "Show the change" };

export class Consent implements Dialog, vscode.Disposable {
  readonly #asks: () => Asks;
  readonly #turns: Turns;
  readonly #waiting = new Map<string, Waiting>();
  #list: vscode.QuickPick<Item> | undefined;
  #allowed = false;

  constructor(asks: () => Asks, turns: Turns) {
    this.#asks = asks;
    this.#turns = turns;
    turns.add(this);
  }

  get isOpen(): boolean {
    return this.#list !== undefined;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Resolves when the action may be done; rejects with `E_DENIED`, or when it is cancelled. */
  async obtain(
    event: ActionEvent,
    signal: AbortSignal,
    open: (waiting: boolean) => void,
  ): Promise<void> {
    if (this.#allowed || !needed(event.action, this.#asks())) return;
    open(true);
    try {
      const answer = await this.#answered(itemOf(event), null, signal);
      if (answer === "refuse") {
        const why = signal.aborted ? "was cancelled while it waited" : "was refused in the editor";
        throw new ActionError(signal.aborted ? "E_CANCELLED" : "E_DENIED", `the action ${why}`);
      }
    } finally {
      open(false);
    }
  }

  /** Asks which calls of a run may be made, in the same list. */
  async approve(
    event: ActionEvent,
    signal: AbortSignal,
    open: (waiting: boolean) => void,
  ): Promise<Observation> {
    const calls = event.action.kind === "approve" ? event.action.calls : [];
    open(true);
    try {
      const answers = await Promise.all(
        calls.map(async (call) => {
          const answer = await this.#answered(itemOfCall(event, call), call, signal);
          return { id: call.id, allow: answer !== "refuse", scope: answer === "all" ? "run" : "call" };
        }),
      );
      if (signal.aborted) throw new ActionError("E_CANCELLED", "nobody waits for the answer");
      const allowed = answers.filter((each) => each.allow).length;
      return {
        observation: "approve",
        content: `${allowed} of ${answers.length} calls are allowed`,
        extras: { answers },
      };
    } finally {
      open(false);
    }
  }

  async #answered(item: Item, call: WaitingCall | null, signal: AbortSignal): Promise<Answer> {
    try {
      return await new Promise<Answer>((answer) => {
        this.#waiting.set(item.id, { item, call, answer });
        signal.addEventListener("abort", () => { answer("refuse"); }, { once: true });
        this.#refresh();
        this.#turns.ask(this);
      });
    } finally {
      this.#waiting.delete(item.id);
      this.#refresh();
    }
  }

  /** Shows the list, again where it was left. */
  show(): void {
    if (this.#waiting.size > 0 && this.#list === undefined) {
      const list = vscode.window.createQuickPick<Item>();
      list.canSelectMany = true;
      list.ignoreFocusOut = true;
      list.title = "Lineshaft: allow these actions?";
      list.placeholder = "Tick what is allowed: others are refused; Escape leaves them waiting";
      const all = {
        iconPath: new vscode.ThemeIcon("check-all"),
        tooltip: "Allow all: later actions of this window too, and of runs the later calls that each names",
      };
      const none = { iconPath: new vscode.ThemeIcon("close"), tooltip: "Refuse all" };
      list.buttons = [all, none];
      list.onDidTriggerButton((button) => {
        const shown = this.#shownIds().map((id) => this.#waiting.get(id));
        this.#allowed ||= button === all && shown.some((each) => each?.call === null);
        this.#settle(() => (button === all ? "all" : "refuse"));
      });
      list.onDidTriggerItemButton(({ item, button }) => {
        const diff = this.#waiting.get(item.id)?.call?.diff;
        if (button === WHOLE) void showText("plaintext", item.whole());
        else if (diff !== undefined) void showText("diff", diff);
      });
      list.onDidAccept(() => {
        const ticked = new Set(list.selectedItems.map((each) => each.id));
        this.#settle((id) => (ticked.has(id) ? "allow" : "refuse"));
      });
      list.onDidHide(() => { this.#close(); });
      this.#list = list;
    }
    this.#refresh();
    this.#list?.show();
  }

  #shownIds(): string[] {
    return this.#list?.items.map((each) => each.id) ?? [];
  }

  /** Answers what the list shows; what came later waits on. */
  #settle(answer: (id: string) => Answer): void {
    for (const id of this.#shownIds()) this.#waiting.get(id)?.answer(answer(id));
  }

  #refresh(): void {
    this.#turns.changed();
    const list = this.#list;
    if (list === undefined) return;
    if (this.#waiting.size === 0) {
      list.hide();
      this.#turns.next();
      return;
    }
    const ticked = new Set(list.selectedItems.map((each) => each.id));
    list.items = [...this.#waiting.values()].map((each) => each.item);
    list.selectedItems = list.items.filter((each) => ticked.has(each.id));
  }

  #close(): void {
    this.#list?.dispose();
    this.#list = undefined;
    this.#turns.changed();
  }

  dispose(): void {
    for (const each of this.#waiting.values()) each.answer("refuse");
    this.#close();
  }
}

const READS: readonly Action["kind"][] = ["read", "get_errors", "buffers", "prepare", "approve"];

export function needed(action: Action, asks: Asks): boolean {
  if (asks === "nothing" || READS.includes(action.kind)) return false;
  if (action.kind === "run" || action.kind === "run_python") return true;
  return asks === "everything" && !(action.kind === "edit" && action.command === "view");
}

function itemOf(event: ActionEvent): Item {
  const row = rowOf(event.action);
  return { id: event.id, ...row, buttons: [WHOLE], whole: () => wholeOf(event.action) };
}

function itemOfCall(event: ActionEvent, call: WaitingCall): Item {
  return {
    id: `${event.id}/${call.id}`,
    ...rowOfCall(call),
    buttons: call.diff === "" ? [WHOLE] : [WHOLE, DIFF],
    whole: () => wholeOfCall(call),
  };
}

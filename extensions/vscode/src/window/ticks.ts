/**
 * A list in which a person ticks rows, which stays open and takes a reason for each row.
 *
 * Rows that come later are added, ticks stay. While a reason is typed its box is in place of the list.
 */

import * as vscode from "vscode";

import { row } from "./texts.ts";

export interface TickRow {
  readonly id: string;
  readonly label: string;
  readonly detail: string;
  readonly buttons: readonly { readonly button: vscode.QuickInputButton; readonly act: () => void }[];
}

export interface TickWords {
  readonly title: string;
  readonly placeholder: string;
  readonly all: string;
  readonly none: string;
}

export interface TickEvents {
  accepted(ticked: ReadonlySet<string>): void;
  all(): void;
  none(): void;
  /** The list was hidden, and nothing is answered. */
  hidden(): void;
  active?(id: string): void;
}

interface Item extends vscode.QuickPickItem {
  readonly row: TickRow;
}

/** Characters of a reason, which goes to a script. */
export const MOST_REASON = 500;

const REASON = { iconPath: new vscode.ThemeIcon("comment"), tooltip: "Give a reason, for where you say no" };

export class TickList {
  readonly #list = vscode.window.createQuickPick<Item>();
  readonly #reasons: Map<string, string>;
  readonly #events: TickEvents;
  #rows: readonly TickRow[] = [];
  #box: vscode.InputBox | undefined;
  #closed = false;

  /** `reasons` holds what was typed, by the row's id, also when the list is made anew. */
  constructor(words: TickWords, reasons: Map<string, string>, events: TickEvents) {
    this.#reasons = reasons;
    this.#events = events;
    const list = this.#list;
    list.canSelectMany = true;
    list.ignoreFocusOut = true;
    list.title = words.title;
    list.placeholder = words.placeholder;
    const all = { iconPath: new vscode.ThemeIcon("check-all"), tooltip: words.all };
    const none = { iconPath: new vscode.ThemeIcon("close"), tooltip: words.none };
    list.buttons = [all, none];
    list.onDidTriggerButton((button) => { if (button === all) events.all(); else events.none(); });
    list.onDidTriggerItemButton(({ item, button }) => {
      if (button === REASON) this.#ask(item.row);
      else item.row.buttons.find((each) => each.button === button)?.act();
    });
    list.onDidChangeActive(([item]) => { if (item !== undefined) events.active?.(item.row.id); });
    list.onDidAccept(() => { events.accepted(new Set(list.selectedItems.map((each) => each.row.id))); });
    list.onDidHide(() => {
      if (this.#box !== undefined || this.#closed) return;
      this.close();
      events.hidden();
    });
  }

  get ids(): readonly string[] {
    return this.#rows.map((each) => each.id);
  }

  put(rows: readonly TickRow[]): void {
    this.#rows = rows;
    const ticked = new Set(this.#list.selectedItems.map((each) => each.row.id));
    this.#list.items = rows.map((each) => {
      const reason = this.#reasons.get(each.id) ?? "";
      const said = reason === "" ? "" : row("", `Your reason: ${reason}. `).detail;
      const buttons = [...each.buttons.map((one) => one.button), REASON];
      return { label: each.label, detail: `${said}${each.detail}`, buttons, row: each };
    });
    this.#list.selectedItems = this.#list.items.filter((each) => ticked.has(each.row.id));
  }

  show(): void {
    if (this.#box === undefined) this.#list.show();
    else this.#box.show();
  }

  close(): void {
    this.#closed = true;
    this.#box?.dispose();
    this.#list.dispose();
  }

  #ask(about: TickRow): void {
    const box = vscode.window.createInputBox();
    this.#box = box;
    box.ignoreFocusOut = true;
    box.title = "Lineshaft: why not?";
    box.prompt = `The script gets it as a text where you refuse: ${about.label}`;
    box.value = this.#reasons.get(about.id) ?? "";
    box.onDidAccept(() => {
      this.#reasons.set(about.id, box.value.trim().slice(0, MOST_REASON));
      box.hide();
    });
    box.onDidHide(() => {
      box.dispose();
      if (this.#closed) return;
      this.#box = undefined;
      this.put(this.#rows);
      this.#list.show();
    });
    box.show();
  }
}

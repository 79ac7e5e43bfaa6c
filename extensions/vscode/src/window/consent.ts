/**
 * Consent: actions that wait for a person, in one list that stays open.
 *
 * Ticked ones are allowed and the others refused; Escape leaves them waiting.
 */

import * as vscode from "vscode";

import { type Action, ActionError, type ActionEvent } from "../protocol/frames.ts";

export type Asks = "everything" | "commands" | "nothing";

interface Waiting {
  readonly event: ActionEvent;
  readonly answer: (allow: boolean) => void;
}

interface Item extends vscode.QuickPickItem {
  readonly id: string;
}

const MOST_SHOWN = 200;

export class Consent implements vscode.Disposable {
  readonly #asks: () => Asks;
  readonly #changed: () => void;
  readonly #waiting = new Map<string, Waiting>();
  #list: vscode.QuickPick<Item> | undefined;
  #allowed = false;

  constructor(asks: () => Asks, changed: () => void) {
    this.#asks = asks;
    this.#changed = changed;
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
      const allowed = await new Promise<boolean>((answer) => {
        this.#waiting.set(event.id, { event, answer });
        signal.addEventListener("abort", () => { answer(false); }, { once: true });
        this.review();
      });
      if (!allowed) {
        const why = signal.aborted ? "was cancelled while it waited" : "was refused in the editor";
        throw new ActionError(signal.aborted ? "E_CANCELLED" : "E_DENIED", `the action ${why}`);
      }
    } finally {
      this.#waiting.delete(event.id);
      open(false);
      this.#refresh();
    }
  }

  /** Shows the list, again where it was left. */
  review(): void {
    if (this.#waiting.size > 0 && this.#list === undefined) {
      const list = vscode.window.createQuickPick<Item>();
      list.canSelectMany = true;
      list.ignoreFocusOut = true;
      list.title = "Lineshaft: allow these actions?";
      list.placeholder = "Ticked ones are allowed, others refused; Escape leaves them waiting";
      const all = { iconPath: new vscode.ThemeIcon("check-all"), tooltip: "Allow for this window" };
      const none = { iconPath: new vscode.ThemeIcon("close"), tooltip: "Refuse all" };
      list.buttons = [all, none];
      list.onDidTriggerButton((button) => {
        this.#allowed ||= button === all;
        this.#settle(button === all ? this.#shownIds() : []);
      });
      list.onDidAccept(() => { this.#settle(list.selectedItems.map((each) => each.id)); });
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
  #settle(allowed: readonly string[]): void {
    for (const id of this.#shownIds()) this.#waiting.get(id)?.answer(allowed.includes(id));
  }

  #refresh(): void {
    this.#changed();
    const list = this.#list;
    if (list === undefined) return;
    if (this.#waiting.size === 0) {
      list.hide();
      return;
    }
    const unticked = new Set(this.#shownIds());
    for (const each of list.selectedItems) unticked.delete(each.id);
    list.items = [...this.#waiting.values()].map(({ event }) => itemOf(event));
    list.selectedItems = list.items.filter((each) => !unticked.has(each.id));
  }

  #close(): void {
    this.#list?.dispose();
    this.#list = undefined;
    this.#changed();
  }

  dispose(): void {
    for (const each of this.#waiting.values()) each.answer(false);
    this.#close();
  }
}

const READS: readonly Action["kind"][] = ["read", "get_errors", "buffers"];

export function needed(action: Action, asks: Asks): boolean {
  if (asks === "nothing" || READS.includes(action.kind)) return false;
  if (action.kind === "run" || action.kind === "run_python") return true;
  return asks === "everything" && !(action.kind === "edit" && action.command === "view");
}

/** One line that says what an action is. */
export function titleOf(action: Action): string {
  switch (action.kind) {
    case "run":
      return action.isInput ? `input: ${action.command}` : `run: ${action.command}`;
    case "run_python":
      return `python: ${action.file ?? action.code ?? ""}`;
    case "edit":
      return `${action.command}: ${action.path}`;
    case "get_errors":
      return `errors: ${action.paths?.join(", ") ?? "all"}`;
    case "buffers":
      return "unsaved changes";
    case "land":
      return `change: ${action.edits.map((each) => each.path).join(", ")}`;
    default:
      return `${action.kind}: ${action.path}`;
  }
}

function itemOf(event: ActionEvent): Item {
  const title = titleOf(event.action).replaceAll("\n", " ⏎ ");
  const label = title.length > MOST_SHOWN ? `${title.slice(0, MOST_SHOWN)}…` : title;
  const detail = detailOf(event.action);
  return { id: event.id, label, ...(detail === null ? {} : { detail }) };
}

function detailOf(action: Action): string | null {
  if (action.kind === "run") return `in ${action.cwd ?? "."}, by bash in a terminal`;
  if (action.kind === "land") return `${action.edits.length} files, together`;
  if (action.kind === "write") return `${action.content.length} characters`;
  if (action.kind !== "edit" || action.oldStr === null) return null;
  return `${action.oldStr.slice(0, MOST_SHOWN)} → ${(action.newStr ?? "").slice(0, MOST_SHOWN)}`;
}

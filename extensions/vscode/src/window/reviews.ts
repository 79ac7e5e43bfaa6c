/**
 * Review of what a run is about to land: each change in the diff editor, kept or dropped by a person.
 *
 * Ticked changes are kept and the others dropped; Escape leaves all of it waiting. One tab shows the
 * change that the list points at, and goes with the list.
 */

import * as vscode from "vscode";

import { ActionError, type Observation, type ReviewAction, type ReviewedChange } from "../protocol/frames.ts";
import { rowOfChange, sidesOf } from "./texts.ts";
import { TickList, type TickRow } from "./ticks.ts";
import type { Dialog, Turns } from "./turns.ts";

const SCHEME = "lineshaft-review";
const DIFF = { iconPath: new vscode.ThemeIcon("diff"), tooltip: "Show the change" };
const WORDS = {
  title: "Lineshaft: which changes land?",
  placeholder: "Tick what is kept: others are dropped; Escape leaves them waiting",
  all: "Keep all",
  none: "Drop all",
};

interface Waiting {
  readonly number: number;
  readonly changes: readonly ReviewedChange[];
  readonly reasons: Map<string, string>;
  readonly answer: (kept: ReadonlySet<string>) => void;
}

export class Reviews implements Dialog, vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #turns: Turns;
  readonly #waiting: Waiting[] = [];
  readonly #providing: vscode.Disposable;
  /** Texts of the diff editor, by their address. */
  readonly #texts = new Map<string, string>();
  #list: TickList | undefined;
  #last = 0;

  constructor(turns: Turns) {
    this.#turns = turns;
    this.#providing = vscode.workspace.registerTextDocumentContentProvider(SCHEME, this);
    turns.add(this);
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  get isOpen(): boolean {
    return this.#list !== undefined;
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.#texts.get(uri.toString()) ?? "";
  }

  /** Has the person decide about each change, and tells which are dropped, with their reasons. */
  async review(
    action: ReviewAction,
    signal: AbortSignal,
    open: (waiting: boolean) => void,
  ): Promise<Observation> {
    let mine: Waiting | undefined;
    open(true);
    try {
      const kept = await new Promise<ReadonlySet<string>>((done, failed) => {
        const gone = (): void => { failed(new ActionError("E_CANCELLED", "nobody waits for the answer")); };
        if (signal.aborted) gone();
        signal.addEventListener("abort", gone, { once: true });
        this.#last += 1;
        mine = { number: this.#last, changes: action.changes, reasons: new Map(), answer: done };
        this.#waiting.push(mine);
        this.#turns.ask(this);
      });
      const out = action.changes.filter((each) => !kept.has(each.path));
      const dropped = out.map((each) => [each.path, mine?.reasons.get(each.path) ?? ""] as const);
      return {
        observation: "review",
        content: `${kept.size} of ${action.changes.length} changes are kept`,
        extras: { dropped: Object.fromEntries(dropped) },
      };
    } finally {
      open(false);
      if (mine !== undefined) await this.#ended(mine);
    }
  }

  /** Shows the review that waits longest. */
  show(): void {
    const [first] = this.#waiting;
    if (first === undefined) return;
    if (this.#list === undefined) {
      const all = first.changes.map((each) => each.path);
      this.#list = new TickList(WORDS, first.reasons, {
        accepted: first.answer,
        all: () => { first.answer(new Set(all)); },
        none: () => { first.answer(new Set()); },
        hidden: () => {
          this.#list = undefined;
          this.#turns.changed();
        },
        active: (path) => {
          const change = first.changes.find((each) => each.path === path);
          if (change !== undefined) void this.#showDiff(first, change);
        },
      });
      this.#list.put(first.changes.map((each) => this.#row(first, each)));
      const [change] = first.changes;
      if (change !== undefined) void this.#showDiff(first, change);
    }
    this.#list.show();
  }

  #row(review: Waiting, change: ReviewedChange): TickRow {
    const diff = { button: DIFF, act: () => void this.#showDiff(review, change) };
    return { id: change.path, ...rowOfChange(change), buttons: [diff] };
  }

  async #showDiff(review: Waiting, change: ReviewedChange): Promise<void> {
    if (!this.#waiting.includes(review)) return;
    const sides = sidesOf(change).map((text, side) => {
      const path = `/${review.number}/${side === 0 ? "before" : "after"}/${change.path}`;
      const uri = vscode.Uri.from({ scheme: SCHEME, path });
      this.#texts.set(uri.toString(), text);
      return uri;
    });
    const options = { preview: true, preserveFocus: true };
    await vscode.commands.executeCommand("vscode.diff", ...sides, `Keep? ${rowOfChange(change).label}`, options);
    if (!this.#waiting.includes(review)) await this.#forget(review);
  }

  async #ended(which: Waiting): Promise<void> {
    const place = this.#waiting.indexOf(which);
    this.#waiting.splice(place, 1);
    if (place === 0 && this.#list !== undefined) {
      this.#list.close();
      this.#list = undefined;
    }
    await this.#forget(which);
    this.#turns.next();
    this.#turns.changed();
  }

  /** Closes the tab of a review, and drops its texts. */
  async #forget({ number }: Waiting): Promise<void> {
    const own = (uri: vscode.Uri): boolean => uri.scheme === SCHEME && uri.path.startsWith(`/${number}/`);
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
    const shown = tabs.filter((tab) => tab.input instanceof vscode.TabInputTextDiff && own(tab.input.modified));
    if (shown.length > 0) await vscode.window.tabGroups.close(shown, true);
    for (const uri of [...this.#texts.keys()]) if (own(vscode.Uri.parse(uri))) this.#texts.delete(uri);
  }

  dispose(): void {
    this.#list?.close();
    this.#list = undefined;
    this.#providing.dispose();
  }
}

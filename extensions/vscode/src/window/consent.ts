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
import { TickList, type TickRow } from "./ticks.ts";
import type { Dialog, Turns } from "./turns.ts";

export type Asks = "everything" | "commands" | "nothing";

/** An answer; `all`: the person allowed everything, also what comes later. */
type Answer = "allow" | "refuse" | "all";

/** Their reasons, where they give one, are told with a refusal. */
interface Waiting {
  readonly row: TickRow;
  /** Of a call of a run that may be made; null: an action of this window. */
  readonly call: WaitingCall | null;
  readonly answer: (answer: Answer) => void;
}

const WORDS = {
  title: "Lineshaft: allow these actions?",
  placeholder: "Tick what is allowed: others are refused; Escape leaves them waiting",
  all: "Allow all: later actions of this window too, and of runs the later calls that each names",
  none: "Refuse all",
};
const WHOLE = { iconPath: new vscode.ThemeIcon("eye"), tooltip: "Show all of it" };
const DIFF = { iconPath: new vscode.ThemeIcon("diff"), tooltip: "Show the change" };

export class Consent implements Dialog, vscode.Disposable {
  readonly #asks: () => Asks;
  readonly #turns: Turns;
  readonly #where: () => string;
  readonly #waiting = new Map<string, Waiting>();
  readonly #reasons = new Map<string, string>();
  #list: TickList | undefined;
  #allowed = false;

  /** `where` says where commands run. */
  constructor(asks: () => Asks, turns: Turns, where: () => string) {
    this.#asks = asks;
    this.#turns = turns;
    this.#where = where;
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
      const { answer, reason } = await this.#answered(rowOfAction(event, this.#where()), null, signal);
      if (answer === "refuse") {
        if (signal.aborted) throw new ActionError("E_CANCELLED", "the action was cancelled while it waited");
        const why = reason === "" ? "" : `: ${reason}`;
        throw new ActionError("E_DENIED", `the action was refused in the editor${why}`);
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
          const { answer, reason } = await this.#answered(rowOfWaiting(event, call), call, signal);
          const scope = answer === "all" ? "run" : "call";
          return { id: call.id, allow: answer !== "refuse", scope, reason };
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

  async #answered(
    row: TickRow,
    call: WaitingCall | null,
    signal: AbortSignal,
  ): Promise<{ answer: Answer; reason: string }> {
    try {
      const answer = await new Promise<Answer>((done) => {
        this.#waiting.set(row.id, { row, call, answer: done });
        signal.addEventListener("abort", () => { done("refuse"); }, { once: true });
        this.#refresh();
        this.#turns.ask(this);
      });
      return { answer, reason: answer === "refuse" ? this.#reasons.get(row.id) ?? "" : "" };
    } finally {
      this.#waiting.delete(row.id);
      this.#reasons.delete(row.id);
      this.#refresh();
    }
  }

  /** Shows the list, again where it was left. */
  show(): void {
    if (this.#waiting.size > 0 && this.#list === undefined) {
      this.#list = new TickList(WORDS, this.#reasons, {
        accepted: (ticked) => { this.#settle((id) => (ticked.has(id) ? "allow" : "refuse")); },
        all: () => {
          const shown = this.#list?.ids.map((id) => this.#waiting.get(id)) ?? [];
          this.#allowed ||= shown.some((each) => each?.call === null);
          this.#settle(() => "all");
        },
        none: () => { this.#settle(() => "refuse"); },
        hidden: () => { this.#close(); },
      });
    }
    this.#refresh();
    this.#list?.show();
  }

  /** Answers what the list shows; what came later waits on. */
  #settle(answer: (id: string) => Answer): void {
    for (const id of this.#list?.ids ?? []) this.#waiting.get(id)?.answer(answer(id));
  }

  #refresh(): void {
    this.#turns.changed();
    if (this.#list === undefined) return;
    if (this.#waiting.size === 0) {
      this.#close();
      this.#turns.next();
      return;
    }
    this.#list.put([...this.#waiting.values()].map((each) => each.row));
  }

  #close(): void {
    this.#list?.close();
    this.#list = undefined;
    this.#turns.changed();
  }

  dispose(): void {
    for (const each of this.#waiting.values()) each.answer("refuse");
    this.#close();
  }
}

const READS: readonly Action["kind"][] = ["read", "get_errors", "buffers", "prepare", "review", "approve"];

export function needed(action: Action, asks: Asks): boolean {
  if (asks === "nothing" || READS.includes(action.kind)) return false;
  if (action.kind === "run" || action.kind === "run_python") return true;
  return asks === "everything" && !(action.kind === "edit" && action.command === "view");
}

function rowOfAction(event: ActionEvent, where: string): TickRow {
  const whole = { button: WHOLE, act: () => void showText("plaintext", wholeOf(event.action)) };
  return { id: event.id, ...rowOf(event.action, where), buttons: [whole] };
}

function rowOfWaiting(event: ActionEvent, call: WaitingCall): TickRow {
  const whole = { button: WHOLE, act: () => void showText("plaintext", wholeOfCall(call)) };
  const diff = { button: DIFF, act: () => void showText("diff", call.diff) };
  return {
    id: `${event.id}/${call.id}`,
    ...rowOfCall(call),
    buttons: call.diff === "" ? [whole] : [whole, diff],
  };
}

/**
 * Runs as the host tells them, and the lines that show them. Nothing here needs the editor.
 *
 * All texts are those of a record that a script may have written: characters that cannot be seen
 * are shown as escapes.
 */

import { isTable, type Json, textOf, type WaitingCall } from "../protocol/frames.ts";
import { seen } from "../window/texts.ts";

export interface RunLine {
  readonly id: string;
  readonly status: string;
  readonly name: string;
  readonly origin: string;
  readonly started: string;
  /** When its last event was: another one where the run has gone on. */
  readonly last: string;
  readonly milliseconds: number;
  readonly pending: number;
  /** The process of this machine that works on it; null: none, or not known here. */
  readonly process: number | null;
}

export interface RunCall {
  readonly id: string;
  readonly parent: string | null;
  readonly text: string;
  readonly status: string;
  readonly milliseconds: number;
  readonly error: string;
}

export interface RunChange {
  readonly path: string;
  readonly kind: string;
  readonly added: number;
  readonly removed: number;
  readonly undoable: boolean;
}

export interface RunDetail {
  readonly line: RunLine;
  readonly calls: readonly RunCall[];
  readonly changes: readonly RunChange[];
  readonly waiting: readonly WaitingCall[];
  /** Lines that the host left out. */
  readonly leftOut: number;
  readonly error: string;
}

export interface RunList {
  readonly runs: readonly RunLine[];
  readonly mark: string;
}

function number(table: Json, name: string): number {
  const found = table[name];
  return typeof found === "number" && Number.isFinite(found) ? found : 0;
}

function tables(table: Json, name: string): readonly Json[] {
  const found = table[name];
  return Array.isArray(found) ? found.filter(isTable) : [];
}

function failure(given: unknown): string {
  return isTable(given) ? `${textOf(given, "code")}: ${textOf(given, "message")}` : "";
}

export function readList(told: Json): RunList {
  return { runs: tables(told, "results").map(readLine), mark: textOf(told, "mark") };
}

export function readLine(told: Json): RunLine {
  return {
    id: textOf(told, "run_id"),
    status: textOf(told, "status"),
    name: textOf(told, "name"),
    origin: textOf(told, "origin"),
    started: textOf(told, "started"),
    last: textOf(told, "last"),
    milliseconds: number(told, "duration_ms"),
    pending: number(told, "pending"),
    process: number(told, "process") || null,
  };
}

export function readDetail(told: Json): RunDetail {
  return {
    line: readLine(told),
    calls: tables(told, "call_list").map((each) => ({
      id: textOf(each, "id"),
      parent: typeof each["parent"] === "string" ? each["parent"] : null,
      text: textOf(each, "text"),
      status: textOf(each, "status"),
      milliseconds: number(each, "duration_ms"),
      error: failure(each["error"]),
    })),
    changes: readChanges(told),
    waiting: tables(told, "waiting").map((each) => ({
      id: textOf(each, "id"),
      tool: textOf(each, "tool"),
      text: textOf(each, "text"),
      reason: textOf(each, "reason"),
      diff: textOf(each, "diff"),
      holdsFor: textOf(each, "holds_for"),
    })),
    leftOut: number(told, "calls_left_out") + number(told, "changes_left_out"),
    error: failure(told["error"]),
  };
}

export function readChanges(told: Json): readonly RunChange[] {
  return tables(told, "changes").map((each) => ({
    path: textOf(each, "path"),
    kind: textOf(each, "kind"),
    added: number(each, "added"),
    removed: number(each, "removed"),
    undoable: each["undoable"] === true,
  }));
}

/** What can be done about a run, as menus know it. */
export type Standing = "running" | "waiting" | "interrupted" | "over";

export function standingOf(run: RunLine): Standing {
  if (run.status === "running") return "running";
  if (run.status === "paused") return "waiting";
  return run.status === "interrupted" ? "interrupted" : "over";
}

/** The calls that another one made, or those that no call of the list made. */
export function callsUnder(calls: readonly RunCall[], parent: string | null): readonly RunCall[] {
  const known = new Set(calls.map((each) => each.id));
  return calls.filter((each) =>
    parent === null ? each.parent === null || !known.has(each.parent) : each.parent === parent);
}

export function titleOfRun(run: RunLine): string {
  return seen(run.name === "" ? run.id : run.name);
}

export function besideRun(run: RunLine): string {
  const parts = [run.status, run.status === "running" ? "" : took(run.milliseconds)];
  if (run.pending > 0) parts.push(`waits for ${counted(run.pending, "answer")}`);
  return seen(parts.filter((each) => each !== "").join(" · "));
}

/** All that the rows of runs show: another text where one of them has to be drawn anew. */
export function rowsShown(runs: readonly RunLine[]): string {
  return JSON.stringify(runs.map((run) => [
    run.id, run.status, run.started, run.origin, titleOfRun(run), besideRun(run), standingOf(run),
  ]));
}

export function besideCall(call: RunCall): string {
  const ended = call.status !== "running" && call.status !== "pending";
  const parts = [call.status, ended ? took(call.milliseconds) : "", call.error];
  return seen(parts.filter((each) => each !== "").join(" · "));
}

export function besideChange(change: RunChange): string {
  const lines = `${change.kind} +${change.added} -${change.removed}`;
  return change.undoable ? lines : `${lines}, cannot be undone`;
}

/** What an undo did, and what was as before already. */
export function undoneText(told: Json): string {
  const files = tables(told, "changes").length;
  const known = told["already"];
  const already = Array.isArray(known) ? known.filter((each) => typeof each === "string") : [];
  const parts = [`${counted(files, "file")} as before`];
  if (already.length > 0) {
    const named = already.slice(0, 5).map(seen).join(", ");
    const more = already.length > 5 ? ` and ${already.length - 5} more` : "";
    parts.push(`as before already, since it was undone here: ${named}${more}`);
  }
  if (told["cancelled"] === true) parts.push("the run had not ended, and is cancelled now");
  return parts.join("; ");
}

/** A duration: `3 ms`, `1.2 s`, `2 min 05 s`. */
export function took(milliseconds: number): string {
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1_000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  return `${Math.floor(seconds / 60)} min ${String(Math.floor(seconds % 60)).padStart(2, "0")} s`;
}

export function counted(count: number, noun: string): string {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

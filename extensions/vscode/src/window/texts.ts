/**
 * Texts about actions, for a person who has to decide: a line of each, and all of it on request.
 *
 * Values stand in JSON on one line, or go on indented, so that none can look like another argument.
 */

import type { UnsavedDecision, UnsavedQuestion } from "../files/unsaved.ts";
import { decodedText, hashOf } from "../files/text.ts";
import type { Action, ReviewedChange, WaitingCall } from "../protocol/frames.ts";

/** Shorter than a row of the list is wide, which would cut without saying how much. */
const MOST_SHOWN = 72;
const MOST_BESIDE = 24;
/** An editor does not draw lines of 10,000 characters to their end. */
const MOST_OF_LINE = 1_000;
const UNSEEN = /[\p{C}\p{DI}\p{Z}\u2800\ufffc\u{13441}\u{13442}\u{16fe4}\u{1d159}]/gu;

export interface Row {
  readonly label: string;
  readonly detail: string;
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
    case "prepare":
      return action.process === "" ? "a landing is about to begin" : `before ${action.process}`;
    case "review":
      return `review: ${action.changes.map((each) => each.path).join(", ")}`;
    case "approve":
      return `may a run make these calls: ${action.calls.map((each) => each.tool).join(", ")}`;
    case "call_tool":
      return `tool ${action.name}: ${JSON.stringify(action.input)}`;
    case "land":
      return `change: ${action.edits.map((each) => each.path).join(", ")}`;
    default:
      return `${action.kind}: ${action.path}`;
  }
}

/** `where` says where commands run. */
export function rowOf(action: Action, where: string): Row {
  return row(titleOf(action), beside(action, where));
}

export function rowOfCall(call: WaitingCall): Row {
  const why = call.reason === "" ? "a call of a run" : `a call of a run: ${call.reason}`;
  const said = call.text.split("\n").join(", ");
  return row(`${call.tool}: ${said}`, `${why}. ${again(call)}"Allow all" allows ${rest(call)} too`);
}

export interface Question<T> {
  readonly title: string;
  readonly placeholder: string;
  readonly choices: readonly (Row & { readonly value: T })[];
  /** All that it is about. */
  readonly whole: string;
}

/** Refusal comes first: a key that was meant for something else saves nothing. */
export function questionOf({ paths, process }: UnsavedQuestion): Question<UnsavedDecision> {
  const names = paths.join(", ");
  const files = `${paths.length} ${paths.length === 1 ? "file" : "files"}`;
  const landing = process === "";
  const choices: [UnsavedDecision, string, string][] = landing
    ? [
        ["refuse", "Refuse", `nothing lands and nothing is saved: ${names}`],
        ["save", "Save with the run's changes", `your changes are saved too: ${names}`],
      ]
    : [
        ["refuse", "Refuse", `it is not started, nothing is saved: ${names}`],
        ["leave", "Run without saving", `it sees what the disk has: ${names}`],
        ["save", "Save and run", `all are saved first: ${names}`],
      ];
  const about = landing ? "A landing changes" : `${beginning(process, MOST_SHOWN)} runs over`;
  return {
    title: seen(`Lineshaft: ${about} ${files} that you have not saved`.replaceAll("\n", " ⏎ ")),
    placeholder: "Choose one; Escape leaves it waiting",
    choices: choices.map(([value, label, detail]) => ({ value, label, detail: row("", detail).detail })),
    whole: [...(landing ? [] : [process]), ...paths].map((line) => folded(seen(JSON.stringify(line)))).join("\n"),
  };
}

export function rowOfChange(change: ReviewedChange): Row {
  const came = change.movedFrom === "" ? "" : ` from ${change.movedFrom}`;
  return row(change.path, [`${change.kind}${came}`, change.note].filter((each) => each !== "").join(": "));
}

/** Both sides of a change, as texts of a diff editor. */
export function sidesOf(change: ReviewedChange): readonly [string, string] {
  const text = (data: Uint8Array | null): string => {
    if (data === null) return change.note === "" ? "" : `(${change.note})\n`;
    const found = decodedText(data);
    return found === null ? `(no text: ${data.length} bytes, SHA-256 ${hashOf(data)})\n` : found.text;
  };
  return [text(change.before), text(change.after)];
}

/** All that an action says. */
export function wholeOf(action: Action): string {
  const pairs: [string, unknown][] =
    action.kind === "land"
      ? action.edits.map((each) => [each.path, Buffer.from(each.after).toString()])
      : Object.entries(action).filter(([name, value]) => name !== "kind" && value !== null);
  const lines = pairs.map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`);
  return [action.kind, "", ...lines.map((line) => folded(seen(line)))].join("\n");
}

/** All that a call of a run says. */
export function wholeOfCall(call: WaitingCall): string {
  const about = [call.tool, ...(call.reason === "" ? [] : [`asks because: ${call.reason}`])];
  about.push(`${again(call)}"Allow all" allows ${rest(call)} too`);
  const said = call.text.split("\n").map((line) => folded(seen(line)));
  return [...about.map(seen), "", ...said].join("\n");
}

/** The editor does not say which of its tools ask by themselves. */
function again({ tool }: WaitingCall): string {
  return tool.startsWith("window.") ? "A tool of the editor, which may ask you once more. " : "";
}

/** What a yes for the run allows beside the call. */
function rest(call: WaitingCall): string {
  const about = call.holdsFor === "" ? "that the same rule asks about" : `to ${call.holdsFor}`;
  return `later calls of ${call.tool} in this run ${about}`;
}

export function row(title: string, detail: string): Row {
  const line = seen(title.replaceAll("\n", " ⏎ "));
  const shown = beginning(line, MOST_SHOWN);
  const left = line.length - shown.length;
  const mark = left === 0 ? "" : `${left.toLocaleString("en")} more characters (the eye shows all). `;
  return {
    label: plain(left === 0 ? line : `${shown}…`),
    detail: plain(`${mark}${seen(detail.replaceAll("\n", " ⏎ "))}`),
  };
}

function beside(action: Action, where: string): string {
  if (action.kind === "run") {
    return action.isInput ? "to the command that was started last" : `in ${action.cwd ?? "."}, by bash ${where}`;
  }
  if (action.kind === "land") return `${action.edits.length} files, together`;
  if (action.kind === "write") return `${action.content.length} characters`;
  if (action.kind !== "edit" || action.oldStr === null) return "";
  return `${marked(action.oldStr)} → ${marked(action.newStr ?? "")}`;
}

function marked(text: string): string {
  const shown = beginning(text, MOST_BESIDE);
  return shown === text ? text : `${shown}… (${text.length - shown.length} more characters)`;
}

/** So many characters at most; none is cut in two. */
function beginning(text: string, most: number): string {
  return text.slice(0, most).replace(/[\uD800-\uDBFF]$/, "");
}

/** Characters that cannot be seen as their escapes. */
export function seen(text: string): string {
  return text.replace(UNSEEN, (char) =>
    char === " " ? char : `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`);
}

/** A list draws `$(name)` as an icon, and an unknown one as nothing: a joiner keeps it a text. */
function plain(text: string): string {
  return text.replaceAll("$(", "$\u2060(");
}

/** A line of JSON in lines that end where its texts do, all but the first indented. */
function folded(line: string): string {
  const lines: string[] = [];
  let piece = "";
  for (const [token] of line.matchAll(/\\u[0-9a-fA-F]{4}|\\.|./gsu)) {
    piece += token;
    if (token !== "\\n" && piece.length < MOST_OF_LINE) continue;
    lines.push(piece);
    piece = "";
  }
  return [...lines, ...(piece === "" ? [] : [piece])].join("\n    ");
}

/**
 * The five edits of a text file, as text in and text out: the rules of `remote/_editing.py`.
 */

import { createTwoFilesPatch } from "diff";

import { ActionError } from "../protocol/frames.ts";

const MOST_SHOWN = 16_000;
const AROUND = 4;

export function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** Returns a text with another in place of one that stands in it exactly once. */
export function replaced(text: string, old: string | null, next: string | null, path: string): string {
  if (old === null || old === "") {
    throw new ActionError("E_TOOL_FAILED", "`old_str` is empty: use `insert`, or `create` a file");
  }
  const pairs = [[old, next ?? ""], [old.trim(), (next ?? "").trim()]] as const;
  for (const [first, second] of pairs) {
    const before = ends(first, text);
    const after = ends(second, text);
    const places = before === "" ? [] : placesOf(text, before);
    const place = places[0];
    if (places.length === 1 && place !== undefined) {
      if (before === after) {
        throw precondition("`old_str` and `new_str` are the same: nothing would change");
      }
      return text.slice(0, place) + after + text.slice(place + before.length);
    }
    if (places.length > 1) {
      const lines = places.map((each) => text.slice(0, each).split("\n").length).join(", ");
      throw precondition(
        `\`old_str\` is ${places.length} times in '${path}', in lines ${lines}: give more around it`,
      );
    }
  }
  throw precondition(`\`old_str\` is not in '${path}': view the file and copy the text exactly`);
}

/** Returns a text with lines put in after a line; each new line gets a line break. */
export function inserted(text: string, line: number | null, next: string | null, path: string): string {
  const lines = linesOf(text);
  if (line === null || !Number.isInteger(line) || line < 0 || line > lines.length) {
    throw new ActionError(
      "E_TOOL_FAILED",
      `\`insert_line\` of '${path}' is 0 to ${lines.length}, not ${String(line)}`,
    );
  }
  const head = lines.slice(0, line);
  const last = head.at(-1);
  if (last !== undefined && !last.endsWith("\n")) head.push(ends("\n", text));
  const more = (next ?? "").split("\n").map((each) => ends(`${each}\n`, text));
  return [...head, ...more, ...lines.slice(line)].join("");
}

/** Returns a text with some of its lines replaced; lines count from 0, `end` -1 is the last. */
export function withLines(text: string, content: string, start: number, end: number): string {
  if (start <= 0 && end === -1) return content;
  const lines = linesOf(text);
  const from = Math.max(start, 0);
  const tail = end === -1 ? [] : lines.slice(Math.max(end, from));
  return [...lines.slice(0, from), content, ...tail].join("");
}

/** Returns some lines of a text; `view` counts from 1 and wins where it is given. */
export function windowOf(
  text: string,
  start: number,
  end: number,
  view: readonly number[] | null,
  path: string,
): string {
  const lines = linesOf(text);
  if (view !== null) {
    const [first, last] = range(view, lines.length, path);
    return lines.slice(first - 1, last).join("");
  }
  const from = Math.max(start, 0);
  return (end === -1 ? lines.slice(from) : lines.slice(from, Math.max(end, 0))).join("");
}

/** Returns lines of a text with their numbers. */
export function viewed(text: string, view: readonly number[] | null, path: string): string {
  const lines = linesOf(text);
  const [first, last] = view === null ? [1, lines.length] : range(view, lines.length, path);
  return numbered(lines, first, last);
}

/** Returns the lines around a change, with their numbers. */
export function snippet(before: string, after: string): string {
  const old = linesOf(before);
  const now = linesOf(after);
  const shorter = Math.min(old.length, now.length);
  let first = 0;
  while (first < shorter && old[first] === now[first]) first += 1;
  let tail = 0;
  while (tail < shorter - first && old.at(-1 - tail) === now.at(-1 - tail)) tail += 1;
  return numbered(
    now,
    Math.max(1, first + 1 - AROUND),
    Math.min(now.length, now.length - tail + AROUND),
  );
}

/** Returns a change as a unified diff. */
export function diffOf(before: string, after: string, path: string): string {
  return createTwoFilesPatch(`a/${path}`, `b/${path}`, before, after, undefined, undefined, {
    context: 3,
  });
}

function ends(part: string, text: string): string {
  const breaks = text.split("\n").length - 1;
  const wide = text.split("\r\n").length - 1;
  if (part.includes("\r") || breaks === 0 || wide < breaks) return part;
  return part.replaceAll("\n", "\r\n");
}

function placesOf(text: string, part: string): number[] {
  const found: number[] = [];
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) {
    found.push(at);
  }
  return found;
}

function range(view: readonly number[], count: number, path: string): [number, number] {
  const [first = 0, end = 0] = view;
  const last = end === -1 ? count : end;
  if (view.length !== 2 || first < 1 || first > last || last > Math.max(count, 1)) {
    throw new ActionError(
      "E_TOOL_FAILED",
      `\`view_range\` of '${path}' is two lines of 1 to ${count}, the second -1 for the last, not` +
        ` ${JSON.stringify(view)}`,
    );
  }
  return [first, last];
}

function numbered(lines: readonly string[], first: number, last: number): string {
  const text = lines
    .slice(first - 1, last)
    .map((line, place) => `${String(first + place).padStart(6)}\t${line.replace(/\r?\n$/, "")}`)
    .join("\n");
  return text.length > MOST_SHOWN
    ? `${text.slice(0, MOST_SHOWN)}\n[... cut; view fewer lines ...]`
    : text;
}

function precondition(text: string): ActionError {
  return new ActionError("E_PRECONDITION_FAILED", text);
}

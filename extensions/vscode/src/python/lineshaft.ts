/**
 * Lineshaft's own command line, as this extension starts it.
 */

import { type ChildProcessByStdio, spawn } from "node:child_process";
import { dirname } from "node:path";
import type { Readable, Writable } from "node:stream";

import type { Python } from "./carried.ts";

/**
 * Starts `python -m lineshaft` with nothing that a workspace holds in its way: a file that a script
 * wrote there, such as `anyio.py`, must not run as a module of Lineshaft's. `-P`, and `-I` too, keep
 * the working folder off Python's module path, and the working folder is the editor's own; Windows looks for the
 * program itself there first.
 */
export function startLineshaft(
  python: Python,
  words: readonly string[],
  variables: Readonly<Record<string, string>> = {},
): ChildProcessByStdio<Writable, Readable, Readable> {
  return spawn(python.program, [...python.flags, "-m", "lineshaft", ...words], {
    cwd: dirname(process.execPath),
    env: { ...process.env, ...variables },
    stdio: ["pipe", "pipe", "pipe"],
  });
}

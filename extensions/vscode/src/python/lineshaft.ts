/**
 * Lineshaft's own command line, as this extension starts it.
 */

import { type ChildProcessByStdio, spawn } from "node:child_process";
import { dirname } from "node:path";
import type { Readable, Writable } from "node:stream";

import { isTable, type Json, textOf } from "../protocol/frames.ts";
import type { Python } from "./carried.ts";

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

/** What runs for a person or an agent; the host, which serves the window, is not among it. */
const started = new Map<number, Child>();

/**
 * Starts `python -m lineshaft` with nothing that a workspace holds in its way: a file that a script
 * wrote there, such as `anyio.py`, must not run as a module of Lineshaft's. `-P`, and `-I` too, keep
 * the working folder off Python's module path, and the working folder is the editor's own; Windows looks for the
 * program itself there first.
 */
export function spawnLineshaft(
  python: Python,
  words: readonly string[],
  variables: Readonly<Record<string, string>> = {},
): Child {
  return spawn(python.program, [...python.flags, "-m", "lineshaft", ...words], {
    cwd: dirname(process.execPath),
    env: { ...process.env, ...variables },
    stdio: ["pipe", "pipe", "pipe"],
  });
}

/** The same, for a run: what stops everything ends it. */
export function startLineshaft(...given: Parameters<typeof spawnLineshaft>): Child {
  const child = spawnLineshaft(...given);
  const { pid } = child;
  if (pid !== undefined) {
    started.set(pid, child);
    child.once("close", () => { started.delete(pid); });
  }
  return child;
}

/** Tells a process that was started here to end, so that its run settles; false: it was not. */
export function endStarted(pid: number): boolean {
  return started.get(pid)?.kill("SIGTERM") ?? false;
}

/** Tells all that was started here for a run to end. */
export function endAllStarted(): void {
  for (const child of started.values()) child.kill("SIGTERM");
}

export interface Said {
  readonly out: string;
  readonly err: string;
}

/** Gives a program its input, and returns what it says once it has ended. */
export async function saidBy(child: Child, input = ""): Promise<Said> {
  const said = { out: "", err: "" };
  child.stdout.setEncoding("utf8").on("data", (part: string) => { said.out += part; });
  child.stderr.setEncoding("utf8").on("data", (part: string) => { said.err += part; });
  child.stdin.on("error", () => undefined);
  child.stdin.end(input);
  await new Promise<void>((done, failed) => {
    child.once("error", failed);
    child.once("close", () => { done(); });
  });
  return said;
}

/** The JSON that a command prints; rejects with its error, and with what else it says. */
export async function answerOf(child: Child): Promise<Json> {
  const { out, err } = await saidBy(child);
  let told: unknown;
  try {
    told = JSON.parse(out);
  } catch {
    throw new Error(err.trim() || "Lineshaft gave no answer");
  }
  if (!isTable(told)) throw new Error("Lineshaft gave no answer");
  const { error } = told;
  if (told["status"] === "error" && !("run_id" in told) && isTable(error)) {
    const hint = textOf(error, "hint");
    throw new Error(`${textOf(error, "message")}${hint === "" ? "" : `; ${hint}`}`);
  }
  return told;
}

/**
 * A command in a terminal of the user: begun by their shell, once or not at all.
 *
 * What the terminal says of its end only frees the terminal. The exit code comes from the one that
 * ran the command, over a socket, and where that was ended the end is told as unknown.
 */

import { randomUUID } from "node:crypto";

import { ActionError } from "../../protocol/frames.ts";
import { Output } from "../output.ts";
import type { Ended, StartedCommand } from "../running.ts";
import { Tree } from "../tree.ts";
import { Heard } from "./heard.ts";
import type { Orders, Runner } from "./orders.ts";
import { Unavailable } from "./unavailable.ts";

/** A line that a shell carries out. */
export interface Execution {
  /** All that the terminal is sent meanwhile. */
  readonly text: AsyncIterable<string>;
  /** Resolves when the shell is said to be ready for the next. */
  readonly ended: Promise<void>;
}

/** A terminal whose shell is ready, for one command. */
export interface OpenTerminal {
  readonly closed: Promise<void>;
  execute(line: string): Execution;
  /** It is free for the next one, or is thrown away. */
  release(keep: boolean): void;
}

/** Gives a terminal, or rejects with `Unavailable`. */
export type OpenTerminals = (hidden: boolean, signal: AbortSignal) => Promise<OpenTerminal>;

export interface ShellStart {
  readonly command: string;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly seconds: number;
  readonly signal: AbortSignal;
  readonly hidden: boolean;
}

/** How long a terminal is waited for. */
export interface Patience {
  /** Until the shell has begun the command. */
  readonly begin: number;
  /** Until the terminal has shown what there is to show. */
  readonly settle: number;
}

const PATIENCE: Patience = { begin: 10_000, settle: 2_000 };

/** So many times as long an end is waited for that is known to come. */
const LONGER = 5;

export class ShellCommands {
  readonly #orders: Orders;
  readonly #open: OpenTerminals;
  readonly #patience: Patience;

  constructor(orders: Orders, open: OpenTerminals, patience: Patience = PATIENCE) {
    this.#orders = orders;
    this.#open = open;
    this.#patience = patience;
  }

  /** Begins a command; rejects with `Unavailable` only where it has not begun and never will. */
  async begin(start: ShellStart): Promise<StartedCommand> {
    const terminal = await this.#open(start.hidden, start.signal);
    try {
      return await this.#begun(start, terminal);
    } catch (error) {
      terminal.release(false);
      throw error;
    }
  }

  async #begun(start: ShellStart, terminal: OpenTerminal): Promise<StartedCommand> {
    const [mark, nonce] = [randomUUID(), randomUUID()];
    const env = Object.fromEntries(
      Object.entries(start.env).filter((pair): pair is [string, string] => pair[1] !== undefined),
    );
    const { command, cwd, signal } = start;
    const output = new Output(undefined);
    const heard = new Heard(nonce, output);
    if (signal.aborted) throw cancelled();
    const order = await this.#orders.place({ command, cwd, env, mark, nonce });
    let runner: Runner | null = null;
    let execution: Execution;
    let silent: Promise<void>;
    try {
      execution = terminal.execute(order.line);
      silent = listen(execution.text, heard);
      runner = await first(order.taken, [terminal.closed, aborted(signal)], this.#patience.begin);
    } finally {
      if (runner === null && !order.withdraw()) runner = await order.taken;
    }
    if (runner === null) {
      throw start.signal.aborted ? cancelled() : new Unavailable("its shell did not begin the command");
    }
    return new ShellCommand(start, new Tree(mark, () => runner), {
      terminal, execution, silent, runner, heard, output, settle: this.#patience.settle,
    });
  }
}

interface Parts {
  readonly terminal: OpenTerminal;
  readonly execution: Execution;
  /** Resolves when the terminal has nothing more to say of it. */
  readonly silent: Promise<void>;
  readonly runner: Runner;
  readonly heard: Heard;
  readonly output: Output;
  readonly settle: number;
}

class ShellCommand implements StartedCommand {
  readonly ended: Promise<Ended>;
  readonly #tree: Tree;
  readonly #parts: Parts;
  #timedOut = false;
  #closed = false;
  #late: () => void = () => undefined;

  constructor(start: ShellStart, tree: Tree, parts: Parts) {
    this.#tree = tree;
    this.#parts = parts;
    const timer = setTimeout(() => {
      this.#timedOut = true;
      void this.end();
    }, start.seconds * 1_000);
    const stop = (): void => void this.end();
    if (start.signal.aborted) stop();
    start.signal.addEventListener("abort", stop, { once: true });
    void parts.terminal.closed.then(() => {
      this.#closed = true;
      stop();
    });
    this.ended = this.#settled().finally(() => {
      clearTimeout(timer);
      start.signal.removeEventListener("abort", stop);
    });
  }

  type(text: string): boolean {
    return this.#parts.runner.type(text);
  }

  async end(): Promise<void> {
    await this.#tree.end();
    // Who asked waits for 5 s after the command's own time, and then no more.
    setTimeout(this.#late, (this.#timedOut ? 2 : LONGER) * this.#parts.settle);
  }

  async #settled(): Promise<Ended> {
    const { terminal, execution, silent, runner, heard, output, settle } = this.#parts;
    const late = new Promise<null>((done) => { this.#late = () => { done(null); }; });
    const result = await Promise.race([runner.ended, late]);
    if (result === null) await this.#tree.end();
    // A busy machine is no silent terminal; where time is over already, nobody waits for long.
    const patient = result === null ? 0 : this.#timedOut ? settle : LONGER * settle;
    const over = Promise.race([terminal.closed, silent]);
    const seen = await happens(heard.complete, over, patient);
    const free = (ready: boolean): void => {
      terminal.release(ready && seen && !heard.foreign && !this.#closed);
    };
    const ready = await happens(execution.ended, terminal.closed, result === null ? 0 : settle);
    if (ready || patient === 0 || this.#closed) free(ready);
    else void happens(execution.ended, terminal.closed, LONGER * settle).then(free);
    if (result?.kind === "failed") throw new Error(result.text);
    return {
      code: this.#timedOut ? null : (result?.code ?? null),
      signal: this.#timedOut ? null : (result?.signal ?? null),
      stdout: output.text(),
      stderr: "",
      timedOut: this.#timedOut,
      pid: runner.pid,
      note: this.#note(result !== null, seen),
    };
  }

  #note(known: boolean, seen: boolean): string {
    const parts: string[] = [];
    if (this.#closed) parts.push("its terminal was closed");
    if (!known && !this.#timedOut) {
      parts.push("how the command ended is not known: what ran it in the terminal was ended");
    }
    if (!seen) parts.push("the terminal did not give all of its output");
    return parts.join("; ");
  }
}

async function listen(text: AsyncIterable<string>, heard: Heard): Promise<void> {
  for await (const chunk of text) heard.add(chunk);
}

function cancelled(): ActionError {
  return new ActionError("E_CANCELLED", "the command was cancelled before it began");
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((done) => { signal.addEventListener("abort", () => { done(); }, { once: true }); });
}

/** Returns what a promise gives; null where one of the others, or the time, comes first. */
async function first<T>(
  given: Promise<T>,
  others: readonly Promise<void>[],
  milliseconds: number,
): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((done) => { timer = setTimeout(done, milliseconds); });
  const none = Promise.race([...others, late]).then(() => null);
  try {
    return await Promise.race([given, none]);
  } finally {
    clearTimeout(timer);
  }
}

async function happens(given: Promise<void>, other: Promise<void>, milliseconds: number): Promise<boolean> {
  return (await first(given.then(() => true), [other], milliseconds)) ?? false;
}

/**
 * A process of its own with pipes, for commands and programs.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";

import { Output } from "./output.ts";
import { Tree, withMark } from "./tree.ts";

const DRAIN_MS = 1_000;

export interface Ended {
  /** Null: a signal ended it, or it could not be started. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly timedOut: boolean;
  readonly pid: number;
  /** What is to be said of it beside; empty: nothing. */
  readonly note: string;
}

/** A command that was started, by whatever means. */
export interface StartedCommand {
  /** Rejects where it could not be started. */
  readonly ended: Promise<Ended>;
  /** Sends a line to its standard input; false where it takes none. */
  type(text: string): boolean;
  /** Ends its whole tree. */
  end(): Promise<void>;
}

export interface Start {
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly seconds: number;
  readonly signal: AbortSignal;
  /** Whether its standard input is open, for `Running.type`. */
  readonly reads: boolean;
  readonly shown?: (text: string) => void;
}

/** A command as a child process, with pipes. */
export class Running implements StartedCommand {
  readonly ended: Promise<Ended>;
  readonly #child: ChildProcess;
  readonly #tree: Tree;
  #timedOut = false;

  constructor(start: Start) {
    const [program, ...args] = start.argv;
    const mark = randomUUID();
    this.#child = spawn(program, args, {
      cwd: start.cwd,
      env: withMark(start.env, mark),
      stdio: [start.reads ? "pipe" : "ignore", "pipe", "pipe"],
      detached: process.platform !== "win32",
    });
    this.#tree = new Tree(mark, () => {
      const { pid, exitCode, signalCode } = this.#child;
      return { pid, lives: exitCode === null && signalCode === null };
    });
    this.#child.stdin?.on("error", () => undefined);
    const timer = setTimeout(() => {
      this.#timedOut = true;
      void this.end();
    }, start.seconds * 1_000);
    const stop = (): void => void this.end();
    if (start.signal.aborted) stop();
    start.signal.addEventListener("abort", stop, { once: true });
    this.ended = this.#settled(start).finally(() => {
      clearTimeout(timer);
      start.signal.removeEventListener("abort", stop);
    });
  }

  type(text: string): boolean {
    const stdin = this.#child.stdin;
    if (stdin === null || stdin.destroyed || this.#child.exitCode !== null) return false;
    stdin.write(text.endsWith("\n") ? text : `${text}\n`);
    return true;
  }

  end(): Promise<void> {
    return this.#tree.end();
  }

  async #settled(start: Start): Promise<Ended> {
    const out = new Output(start.shown);
    const err = new Output(start.shown);
    this.#child.stdout?.on("data", (data: Buffer) => { out.add(data); });
    this.#child.stderr?.on("data", (data: Buffer) => { err.add(data); });
    const closed = new Promise<void>((done) => this.#child.once("close", () => { done(); }));
    const { code, signal } = await new Promise<Pick<Ended, "code" | "signal">>((done, failed) => {
      this.#child.once("error", failed);
      this.#child.once("exit", (code, signal) => { done({ code, signal }); });
    });
    // What it left running may hold its output open.
    const drained = new Promise((done) => setTimeout(done, DRAIN_MS));
    await Promise.race([closed, drained]);
    await this.end();
    this.#child.stdout?.destroy();
    this.#child.stderr?.destroy();
    this.#child.stdin?.destroy();
    return {
      code: this.#timedOut ? null : code,
      signal: this.#timedOut ? null : signal,
      stdout: out.text(),
      stderr: err.text(),
      timedOut: this.#timedOut,
      pid: this.#child.pid ?? -1,
      note: "",
    };
  }
}

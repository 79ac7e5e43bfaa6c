/**
 * A process with its whole tree: found by a mark in its environment, and by its parents.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";

const MARK = "LINESHAFT_PROCESS";
const GRACE_MS = 2_000;
const DRAIN_MS = 1_000;
const MOST_BYTES = 10_000_000;

export interface Ended {
  /** Null: a signal ended it, or it could not be started. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly timedOut: boolean;
  readonly pid: number;
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

/** A started process; `ended` rejects where it cannot be started. */
export class Running {
  readonly ended: Promise<Ended>;
  readonly #child: ChildProcess;
  readonly #mark = randomUUID();
  #timedOut = false;
  #ending: Promise<void> | undefined;

  constructor(start: Start) {
    const [program, ...args] = start.argv;
    this.#child = spawn(program, args, {
      cwd: start.cwd,
      env: { ...start.env, [MARK]: this.#mark },
      stdio: [start.reads ? "pipe" : "ignore", "pipe", "pipe"],
      detached: process.platform !== "win32",
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

  /** Sends a line to its standard input; false where it takes none. */
  type(text: string): boolean {
    const stdin = this.#child.stdin;
    if (stdin === null || stdin.destroyed || this.#child.exitCode !== null) return false;
    stdin.write(text.endsWith("\n") ? text : `${text}\n`);
    return true;
  }

  /** Ends the whole tree: SIGTERM, 2 s, SIGKILL. */
  end(): Promise<void> {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  async #end(): Promise<void> {
    const known = await this.#tree();
    send(known, "SIGTERM");
    const over = Date.now() + GRACE_MS;
    while (Date.now() < over) {
      if ((await this.#tree()).size === 0) return;
      await new Promise((done) => setTimeout(done, 50));
    }
    send(await this.#tree(), "SIGKILL");
  }

  async #tree(): Promise<Set<number>> {
    const found = await marked(`${MARK}=${this.#mark}`);
    const pid = this.#child.pid;
    if (pid !== undefined && this.#child.exitCode === null && this.#child.signalCode === null) {
      found.add(pid);
    }
    return found;
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
    };
  }
}

/** Output of a bounded size: of more, the beginning and how much is left out. */
class Output {
  readonly #parts: Buffer[] = [];
  readonly #shown: ((text: string) => void) | undefined;
  readonly #decoder = new TextDecoder();
  #bytes = 0;

  constructor(shown: ((text: string) => void) | undefined) {
    this.#shown = shown;
  }

  add(data: Buffer): void {
    if (this.#bytes < MOST_BYTES) this.#parts.push(data.subarray(0, MOST_BYTES - this.#bytes));
    this.#bytes += data.length;
    this.#shown?.(this.#decoder.decode(data, { stream: true }));
  }

  text(): string {
    const text = Buffer.concat(this.#parts).toString("utf8");
    const left = this.#bytes - MOST_BYTES;
    return left > 0 ? `${text}\n[... ${left} bytes left out ...]\n` : text;
  }
}

function send(pids: Iterable<number>, signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // it has ended meanwhile
    }
  }
}

/** Returns the processes with an entry in their environment, where the system shows it. */
async function marked(entry: string): Promise<Set<number>> {
  const found = new Set<number>();
  const names = await readdir("/proc").catch(() => []);
  await Promise.all(
    names.filter((name) => /^\d+$/.test(name)).map(async (name) => {
      const environment = await readFile(`/proc/${name}/environ`).catch(() => null);
      if (environment?.includes(`${entry}\0`) === true && (await lives(name))) {
        found.add(Number(name));
      }
    }),
  );
  return found;
}

async function lives(name: string): Promise<boolean> {
  const text = await readFile(`/proc/${name}/stat`, "latin1").catch(() => "");
  return !["Z", "X", ""].includes(text.slice(text.lastIndexOf(")") + 2)[0] ?? "");
}

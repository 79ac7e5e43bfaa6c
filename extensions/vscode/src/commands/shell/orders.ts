/**
 * Orders for what runs commands in terminals: each is given away once, or withdrawn, never both.
 */

import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { mkdtemp, writeFile } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { Json } from "../../protocol/frames.ts";
import { Unavailable } from "./unavailable.ts";
import { type Order, takeMessages, tell } from "./wire.ts";

/** How a command ended, as the one that ran it says. */
export type Result =
  | { readonly kind: "ended"; readonly code: number | null; readonly signal: NodeJS.Signals | null }
  | { readonly kind: "failed"; readonly text: string };

/** The one that runs a command in a terminal. */
export class Runner {
  /** Null: it was ended itself, and nobody knows how the command did. */
  readonly ended: Promise<Result | null>;
  readonly #socket: Socket;
  #pid = -1;
  #over = false;
  #settle: (result: Result | null) => void = () => undefined;

  constructor(socket: Socket) {
    this.#socket = socket;
    this.ended = new Promise((done) => { this.#settle = done; });
    socket.on("close", () => { this.#end(null); });
  }

  get pid(): number {
    return this.#pid;
  }

  /** Whether the command runs, as far as is known. */
  get lives(): boolean {
    return this.#pid > 0 && !this.#over;
  }

  take(message: Json): void {
    switch (message["told"]) {
      case "started":
        this.#pid = Number(message["pid"]) || -1;
        break;
      case "failed":
        this.#end({ kind: "failed", text: String(message["text"]) });
        break;
      case "ended": {
        const { code, signal } = message;
        this.#end({
          kind: "ended",
          code: typeof code === "number" ? code : null,
          signal: typeof signal === "string" ? (signal as NodeJS.Signals) : null,
        });
      }
    }
  }

  type(text: string): boolean {
    if (this.#over) return false;
    tell(this.#socket, { input: text.endsWith("\n") ? text : `${text}\n` });
    return true;
  }

  #end(result: Result | null): void {
    this.#over = true;
    this.#settle(result);
  }
}

/** An order that waits for the one that takes it. */
export interface PlacedOrder {
  /** What a shell has to start. */
  readonly line: string;
  readonly taken: Promise<Runner>;
  /** Takes it back; false: it was given away before. */
  withdraw(): boolean;
}

interface Office {
  readonly folder: string;
  readonly server: Server;
}

export class Orders {
  readonly #runner: readonly [string, ...string[]];
  readonly #waiting = new Map<string, (socket: Socket) => Runner>();
  #office: Promise<Office> | undefined;
  #made: Office | undefined;

  /** `runner` is the program that runs an order, and its arguments before the socket and the id. */
  constructor(runner: readonly [string, ...string[]]) {
    this.#runner = runner;
  }

  async place(order: Order): Promise<PlacedOrder> {
    this.#office ??= this.#opened();
    const { folder } = await this.#office.catch((error: unknown) => {
      this.#office = undefined;
      throw new Unavailable(`its socket could not be made: ${error instanceof Error ? error.message : String(error)}`);
    });
    const id = randomUUID().slice(0, 8);
    const taken = new Promise<Runner>((done) => {
      this.#waiting.set(id, (socket) => {
        const runner = new Runner(socket);
        tell(socket, order);
        done(runner);
        return runner;
      });
    });
    return { line: `sh ${folder}/run ${id}`, taken, withdraw: () => this.#waiting.delete(id) };
  }

  /** Only this user reaches the folder, and by it the socket. */
  async #opened(): Promise<Office> {
    const folder = await mkdtemp(join(tmpdir(), "lineshaft-"));
    // The line goes to shells with rules of their own.
    if (!/^[\w/.+,@-]+$/.test(folder)) {
      rmSync(folder, { recursive: true });
      throw new Error(`'${folder}' has characters that shells read in different ways`);
    }
    const path = join(folder, "socket");
    const words = [...this.#runner, path].map(quoted).join(" ");
    const asNode = process.versions["electron"] === undefined ? "" : "ELECTRON_RUN_AS_NODE=1 ";
    await writeFile(
      join(folder, "run"),
      `unset NODE_OPTIONS NODE_PATH\n${asNode}exec ${words} "$1"\n`,
      { mode: 0o600 },
    );
    const server = createServer((socket) => { this.#connected(socket); });
    await new Promise<void>((done, failed) => {
      server.once("error", failed);
      server.listen(path, done);
    });
    this.#made = { folder, server };
    return this.#made;
  }

  #connected(socket: Socket): void {
    let runner: Runner | undefined;
    socket.on("error", () => undefined);
    takeMessages(socket, (message) => {
      if (runner !== undefined) {
        runner.take(message);
        return;
      }
      const id = String(message["id"]);
      const give = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (give === undefined) socket.destroy();
      else runner = give(socket);
    });
  }

  dispose(): void {
    this.#waiting.clear();
    this.#office = undefined;
    this.#made?.server.close();
    // The window need not wait for what is done later.
    if (this.#made !== undefined) rmSync(this.#made.folder, { recursive: true, force: true });
  }
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

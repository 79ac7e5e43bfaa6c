/**
 * Actions by id with their answers: nothing is done twice, no answer is lost.
 *
 * The same rules as `remote/protocol/executions.py`. Its state outlives the window: an action that
 * had begun when the window went, and has no answer, is answered with `E_UNKNOWN_STATE`.
 */

import {
  type ActionEvent,
  ActionError,
  failed,
  isDelegated,
  type Json,
  keyOf,
  MESSAGE_BYTES,
  type Observation,
  readAction,
} from "./frames.ts";

/** What is kept beyond the life of a window. */
export interface Kept {
  readonly begun: readonly string[];
  readonly answers: readonly Json[];
  readonly forgotten: number;
}

export type Told =
  | { readonly kind: "begin"; readonly event: ActionEvent }
  | { readonly kind: "send"; readonly frame: Json }
  | { readonly kind: "skip"; readonly reason: string };

const KEPT_ANSWERS = 200;
/** Of confirmed answers in all, as JSON: the oldest go first. */
const KEPT_IN_ALL = 16_000_000;
/** A longer answer is not kept beyond the life of the window. */
const KEPT_CHARACTERS = 100_000;

export class Executions {
  readonly #running = new Set<string>();
  readonly #lost: Set<string>;
  readonly #unacknowledged = new Map<string, Json>();
  readonly #answered = new Map<string, Json>();
  /** Characters of each answer, as JSON. */
  readonly #lengths = new WeakMap<Json, number>();
  readonly #save: (kept: Kept) => void;
  #forgotten: number;

  constructor(kept: Kept | undefined, save: (kept: Kept) => void) {
    this.#save = save;
    this.#lost = new Set(kept?.begun ?? []);
    this.#forgotten = kept?.forgotten ?? -1;
    for (const frame of kept?.answers ?? []) {
      const key = keyOf(frame["cause"]);
      if (key !== null) this.#unacknowledged.set(key, frame);
    }
  }

  get running(): ReadonlySet<string> {
    return this.#running;
  }

  /** Answers that the host has not confirmed: sent again after each reconnect. */
  get unacknowledged(): readonly Json[] {
    return [...this.#unacknowledged.values()];
  }

  receive(frame: Json): Told {
    if (!isDelegated(frame)) return { kind: "skip", reason: "it is for display" };
    const key = keyOf(frame["id"]);
    if (key === null) return { kind: "skip", reason: "an action has no usable id" };
    if (this.#running.has(key)) return { kind: "skip", reason: `action ${key} is being done` };
    const known = this.#unacknowledged.get(key) ?? this.#answered.get(key);
    if (known !== undefined) return { kind: "send", frame: known };
    if (this.#lost.has(key)) {
      return this.#refused(key, "E_UNKNOWN_STATE", `the window went while it did action ${key}`);
    }
    if (Number(key) <= this.#forgotten) {
      return this.#refused(key, "E_UNKNOWN_STATE", `the answer to ${key} is not kept any more`);
    }
    try {
      const event = readAction(frame);
      this.#running.add(key);
      this.#keep();
      return { kind: "begin", event };
    } catch (error) {
      if (error instanceof ActionError) return this.#refused(key, error.code, error.message);
      throw error;
    }
  }

  #refused(key: string, code: string, text: string): Told {
    return { kind: "send", frame: this.answered(key, failed(code, text)) };
  }

  /** Records the answer to an action, and returns the frame to send until it is confirmed. */
  answered(key: string, observation: Observation): Json {
    let frame: Json = {
      timestamp: new Date().toISOString(),
      source: "environment",
      message: "",
      cause: Number(key),
      ...observation,
    };
    const bytes = Buffer.byteLength(JSON.stringify(frame));
    if (bytes > MESSAGE_BYTES - 1024) {
      const text = `the action was done, but its answer has ${bytes} bytes, more than ${MESSAGE_BYTES}: ask for less at once`;
      frame = { ...frame, ...failed("E_TOO_LARGE", text), success: false };
    }
    this.#running.delete(key);
    this.#lost.delete(key);
    this.#unacknowledged.set(key, frame);
    this.#keep();
    return frame;
  }

  acknowledged(key: string): void {
    const frame = this.#unacknowledged.get(key);
    if (frame === undefined) return;
    this.#unacknowledged.delete(key);
    this.#answered.set(key, frame);
    let characters = [...this.#answered.values()].reduce((sum, each) => sum + this.#length(each), 0);
    for (const [oldest, its] of this.#answered) {
      if (this.#answered.size <= KEPT_ANSWERS && characters <= KEPT_IN_ALL) break;
      characters -= this.#length(its);
      this.#answered.delete(oldest);
      this.#forgotten = Math.max(this.#forgotten, Number(oldest));
    }
    this.#keep();
  }

  #length(frame: Json): number {
    let length = this.#lengths.get(frame);
    if (length === undefined) {
      length = JSON.stringify(frame).length;
      this.#lengths.set(frame, length);
    }
    return length;
  }

  #keep(): void {
    const frames = [...this.#answered.values(), ...this.#unacknowledged.values()];
    const answers = frames.filter((frame) => this.#length(frame) <= KEPT_CHARACTERS);
    const longer = frames.filter((frame) => this.#length(frame) > KEPT_CHARACTERS);
    this.#save({
      begun: [...this.#running, ...this.#lost, ...longer.map((frame) => String(frame["cause"]))],
      answers,
      forgotten: this.#forgotten,
    });
  }
}

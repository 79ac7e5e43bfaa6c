/**
 * Changes of the person that are not saved and are in the way: they are asked, nothing is assumed.
 *
 * A landing that changes such a file saves the person's changes with its own; a process reads the
 * disk and does not see them. Neither happens without an answer, and an answer holds for a version.
 */

import type * as vscode from "vscode";

import { ActionError, type Observation, type PrepareAction } from "../protocol/frames.ts";
import type { Buffers, DirtyFile } from "./buffers.ts";
import { SAVE_MS, within } from "./waiting.ts";

/** What is not saved, and what is about to happen to it. */
export interface UnsavedQuestion {
  readonly paths: readonly string[];
  /** The process that reads the disk, in words; empty: a landing changes the files. */
  readonly process: string;
}

/** What the person may decide: `leave` only where a process starts. */
export type UnsavedDecision = "save" | "leave" | "refuse";

/** Told whether a dialog is open for an action, whose clock stands still meanwhile. */
export type Opened = (waiting: boolean) => void;

export type Decide = (
  question: UnsavedQuestion,
  signal: AbortSignal,
  open: Opened,
) => Promise<UnsavedDecision>;

export class UnsavedChanges {
  readonly #buffers: Pick<Buffers, "dirty">;
  readonly #decide: Decide;
  readonly #reviews: () => boolean;
  /** Versions that a landing may save. */
  readonly #allowed = new WeakMap<vscode.TextDocument, string>();
  /** Versions that were left unsaved when a process of this window started, by path. */
  #left: ReadonlyMap<string, string> = new Map();

  /** `reviews` says whether the person wants to look at each change before it lands. */
  constructor(buffers: Pick<Buffers, "dirty">, decide: Decide, reviews: () => boolean) {
    this.#buffers = buffers;
    this.#decide = decide;
    this.#reviews = reviews;
  }

  /** Asks what a landing, or a process of a run, is in the way of. */
  async prepare(action: PrepareAction, signal: AbortSignal, open: Opened): Promise<Observation> {
    const changed = (each: DirtyFile): boolean => action.paths.includes(each.path);
    const done =
      action.process === ""
        ? { saved: [], left: action.known }
        : await this.#settled(action.process, action.known, (each) => !changed(each), signal, open);
    await this.mayBeSaved(changed, signal, open);
    return {
      observation: "prepare",
      content: `${done.saved.length} files were saved, ${done.left.size} stay unsaved`,
      extras: { saved: done.saved, left: Object.fromEntries(done.left), review: this.#reviews() },
    };
  }

  /** Asks before a process of this window starts. */
  async beforeProcess(process: string, signal: AbortSignal, open: Opened): Promise<void> {
    const { left } = await this.#settled(process, this.#left, () => true, signal, open);
    this.#left = left;
  }

  /** Asks whether a landing may save files that it changes; throws `E_DENIED` where it may not. */
  async mayBeSaved(
    which: (file: DirtyFile) => boolean,
    signal: AbortSignal,
    open: Opened,
  ): Promise<void> {
    for (;;) {
      const asked = (await this.#buffers.dirty()).filter(
        (each) => which(each) && this.#allowed.get(each.document) !== each.version,
      );
      if (asked.length === 0) return;
      const paths = asked.map((each) => each.path);
      if ((await this.#decide({ paths, process: "" }, signal, open)) !== "save") {
        throw refused("nothing landed", paths);
      }
      for (const each of asked) this.#allowed.set(each.document, each.version);
    }
  }

  async #settled(
    process: string,
    known: ReadonlyMap<string, string>,
    which: (file: DirtyFile) => boolean,
    signal: AbortSignal,
    open: Opened,
  ): Promise<{ saved: readonly string[]; left: ReadonlyMap<string, string> }> {
    const left = new Map(known);
    const saved: string[] = [];
    for (;;) {
      const dirty = await this.#buffers.dirty();
      const files = dirty.filter((each) => which(each) && left.get(each.path) !== each.version);
      if (files.length === 0) return { saved, left: now(left, dirty) };
      const paths = files.map((each) => each.path);
      const decision = await this.#decide({ paths, process }, signal, open);
      if (decision === "refuse") throw refused("the process was not started", paths);
      if (decision === "leave") {
        for (const each of files) left.set(each.path, each.version);
      } else {
        await save(files);
        saved.push(...paths);
      }
    }
  }
}

/** Without files that are saved by now. */
function now(left: ReadonlyMap<string, string>, dirty: readonly DirtyFile[]): Map<string, string> {
  const still = new Set(dirty.map((each) => each.path));
  return new Map([...left].filter(([path]) => still.has(path)));
}

async function save(files: readonly DirtyFile[]): Promise<void> {
  for (const { document, path } of files) {
    if (!(await within(document.save(), SAVE_MS))) {
      throw new ActionError("E_STALE", `'${path}' could not be saved, and the process was not started`);
    }
  }
}

function refused(what: string, paths: readonly string[]): ActionError {
  const named = paths.map((path) => `'${path}'`).join(", ");
  return new ActionError("E_DENIED", `${what}: the person refused, changes of theirs are not saved: ${named}`);
}

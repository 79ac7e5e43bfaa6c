/**
 * The way of an action in this window: trust, consent, then files or commands.
 */

import type { Commands } from "../commands/commands.ts";
import type { Buffers } from "../files/buffers.ts";
import type { Files } from "../files/files.ts";
import type { Landing } from "../files/landing.ts";
import type { Opened, UnsavedChanges } from "../files/unsaved.ts";
import {
  ActionError,
  type ActionEvent,
  type CallToolAction,
  failed,
  type GetErrorsAction,
  type Observation,
  type ReviewAction,
} from "../protocol/frames.ts";
import { titleOf } from "./texts.ts";

export interface Gatekeeper {
  isTrusted(): boolean;
  obtain(event: ActionEvent, signal: AbortSignal, open: (waiting: boolean) => void): Promise<void>;
  /** Asks which changes of a run land. */
  review(action: ReviewAction, signal: AbortSignal, open: Opened): Promise<Observation>;
  /** Asks which calls of a run may be made. */
  approve(event: ActionEvent, signal: AbortSignal, open: (waiting: boolean) => void): Promise<Observation>;
}

/** What a workspace asks of the window that shows it. */
export interface Shown {
  readonly buffers: Buffers;
  readonly landing: Landing;
  readonly unsaved: UnsavedChanges;
}

export type GetErrors = (action: GetErrorsAction, signal: AbortSignal) => Promise<Observation>;

export type CallTool = (action: CallToolAction, signal: AbortSignal) => Promise<Observation>;

export class Actions {
  readonly #files: Files;
  readonly #commands: Commands;
  readonly #errors: GetErrors;
  readonly #callTool: CallTool;
  readonly #keeper: Gatekeeper;
  readonly #shown: Shown;

  constructor(
    files: Files,
    commands: Commands,
    errors: GetErrors,
    callTool: CallTool,
    shown: Shown,
    keeper: Gatekeeper,
  ) {
    this.#files = files;
    this.#shown = shown;
    this.#errors = errors;
    this.#callTool = callTool;
    this.#commands = commands;
    this.#keeper = keeper;
  }

  /** Does an action; what goes wrong is the observation `error`. */
  async perform(
    event: ActionEvent,
    signal: AbortSignal,
    open: (waiting: boolean) => void,
  ): Promise<Observation> {
    try {
      // VS Code itself keeps only terminals from an untrusted folder, not files and processes.
      if (!this.#keeper.isTrusted()) {
        throw new ActionError("E_DENIED", "the folder is not trusted in VS Code: nothing is done in it");
      }
      await this.#keeper.obtain(event, signal, open);
      const done =
        event.action.kind === "approve"
          ? await this.#keeper.approve(event, signal, open)
          : await this.#done(event, signal, open);
      return signal.aborted ? failed("E_CANCELLED", "the action was stopped") : done;
    } catch (error) {
      if (error instanceof ActionError) return failed(error.code, error.message);
      return failed("E_TOOL_FAILED", error instanceof Error ? error.message : String(error));
    }
  }

  async #done({ action, timeout }: ActionEvent, signal: AbortSignal, open: Opened): Promise<Observation> {
    if (action.kind === "run_python" || (action.kind === "run" && !action.isInput)) {
      await this.#shown.unsaved.beforeProcess(titleOf(action), signal, open);
    }
    switch (action.kind) {
      case "run":
        return await this.#commands.run(action, timeout, signal, open);
      case "run_python":
        return await this.#commands.runPython(action, timeout, signal);
      case "read":
        return await this.#files.read(action);
      case "write":
        return await this.#files.write(action);
      case "edit":
        return await this.#files.edit(action);
      case "get_errors":
        return await this.#errors(action, signal);
      case "call_tool":
        return await this.#callTool(action, signal);
      case "buffers":
        return await this.#shown.buffers.list(action);
      case "land":
        return await this.#shown.landing.land(action, signal, open);
      case "prepare":
        return await this.#shown.unsaved.prepare(action, signal, open);
      case "review":
        return await this.#keeper.review(action, signal, open);
      case "approve":
        throw new ActionError("E_UNSUPPORTED", "a question is for a person");
    }
  }
}

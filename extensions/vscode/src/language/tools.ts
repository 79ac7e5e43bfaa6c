/**
 * The editor's language-model tools, offered to runs and called for them.
 *
 * A call that a chat's request led to keeps that request's token, so that the editor shows it there.
 */

import { randomUUID } from "node:crypto";
import * as vscode from "vscode";

import { ActionError, type CallToolAction, type Json, type Observation } from "../protocol/frames.ts";
import { isOffered, observed, outputSchemaOf } from "./choice.ts";

/** Requests of chats for which this window runs something, by an id that the run is given. */
export class Invocations {
  readonly #tokens = new Map<string, unknown>();

  begun(token: unknown): string {
    const id = randomUUID();
    this.#tokens.set(id, token);
    return id;
  }

  ended(id: string): void {
    this.#tokens.delete(id);
  }

  /** The token of a request; undefined: it belongs to none, or to one that is over. */
  token(id: string): unknown {
    return this.#tokens.get(id);
  }
}

export interface Offering {
  /** Whether any tools are offered. */
  readonly tools: boolean;
  /** Whether those that change files are, too. */
  readonly edits: boolean;
}

export class LanguageTools {
  readonly #invocations: Invocations;
  readonly #offering: () => Offering;

  constructor(invocations: Invocations, offering: () => Offering) {
    this.#invocations = invocations;
    this.#offering = offering;
  }

  /** The tools, as they are announced to the host. */
  offered(): readonly Json[] {
    const packages = vscode.extensions.all.map((each) => each.packageJSON as unknown);
    return this.#listed().map((tool) => {
      const output = outputSchemaOf(tool.name, packages);
      return {
        name: tool.name,
        description: tool.description,
        input_schema: tool.inputSchema ?? { type: "object" },
        ...(output === null ? {} : { output_schema: output }),
      };
    });
  }

  async call(action: CallToolAction, signal: AbortSignal): Promise<Observation> {
    if (!this.#listed().some((tool) => tool.name === action.name)) {
      throw new ActionError("E_UNKNOWN_TOOL", `the editor offers no tool '${action.name}'`);
    }
    const source = new vscode.CancellationTokenSource();
    const stop = (): void => { source.cancel(); };
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    try {
      // The editor declares it as a value that nobody can name.
      const toolInvocationToken = this.#invocations.token(action.invocation) as never;
      const options = { input: action.input, toolInvocationToken };
      const result = await vscode.lm.invokeTool(action.name, options, source.token);
      return observed(result.content);
    } catch (error) {
      // The editor throws the same for a person who said no.
      if (isCancellation(error) && !signal.aborted) {
        throw new ActionError("E_DENIED", `the call of '${action.name}' was refused in the editor`);
      }
      throw error;
    } finally {
      signal.removeEventListener("abort", stop);
      source.dispose();
    }
  }

  #listed(): readonly vscode.LanguageModelToolInformation[] {
    const { tools, edits } = this.#offering();
    // Editors that are like VS Code need not have language models.
    const models = vscode.lm as typeof vscode.lm | undefined;
    if (!tools || !vscode.workspace.isTrusted || models?.tools === undefined) return [];
    return models.tools.filter((tool) => isOffered(tool, edits));
  }
}

function isCancellation(error: unknown): boolean {
  return error instanceof vscode.CancellationError || (error instanceof Error && error.name === "Canceled");
}

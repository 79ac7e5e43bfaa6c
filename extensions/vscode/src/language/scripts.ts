/**
 * Scripts of the editor's own agents, by the language-model tool `run_agent_script`, and of a person.
 *
 * A script runs by `lineshaft run` in the folder that this window shows, under its policy; what that
 * asks about is asked here. To cancel the tool's call ends the run.
 */

import * as vscode from "vscode";

import type { Python } from "../python/carried.ts";
import { saidBy, startLineshaft } from "../python/lineshaft.ts";
import type { Invocations } from "./tools.ts";

export const TOOL = "run_agent_script";
const MOST_ANSWERED = 60_000;

export interface Place {
  readonly root: string;
  readonly python: Python;
}

/** Makes the window ready for runs, and says where they run; rejects where it cannot be. */
export type Ready = () => Promise<Place>;

interface Input {
  readonly code: string;
}

export class ScriptTool implements vscode.LanguageModelTool<Input> {
  readonly #ready: Ready;
  readonly #invocations: Invocations;

  constructor(ready: Ready, invocations: Invocations) {
    this.#ready = ready;
    this.#invocations = invocations;
  }

  prepareInvocation(
    options: vscode.LanguageModelToolInvocationPrepareOptions<Input>,
  ): vscode.PreparedToolInvocation {
    const script = new vscode.MarkdownString();
    script.appendCodeblock(options.input.code, "python");
    return {
      invocationMessage: "Running a script over Lineshaft's tools",
      confirmationMessages: { title: "Run this script over Lineshaft's tools?", message: script },
    };
  }

  async invoke(
    options: vscode.LanguageModelToolInvocationOptions<Input>,
    token: vscode.CancellationToken,
  ): Promise<vscode.LanguageModelToolResult> {
    const { code } = options.input;
    if (typeof code !== "string" || code === "") throw new Error("`code` is the script's text");
    const place = await this.#ready();
    const invocation = this.#invocations.begun(options.toolInvocationToken);
    const from: Asking = { origin: "model", invocation };
    const text = answered(await ran(place, code, from, token).finally(() => {
      this.#invocations.ended(invocation);
    }));
    return new vscode.LanguageModelToolResult([new vscode.LanguageModelTextPart(text)]);
  }
}

/** Who asks for a run: for policy and limits, and for the tools that it calls here. */
interface Asking {
  readonly origin: "model" | "editor";
  readonly invocation: string;
}

export type Run = Readonly<Record<string, unknown>>;

/** Runs a script for the person at this window. */
export async function runForPerson(
  place: Place,
  code: string,
  token: vscode.CancellationToken,
): Promise<Run> {
  return await ran(place, code, { origin: "editor", invocation: "" }, token);
}

/** Runs a script, and returns its result. */
async function ran(
  place: Place,
  code: string,
  from: Asking,
  token: vscode.CancellationToken,
): Promise<Run> {
  const words = ["run", "-", "--json", "--origin", from.origin];
  const child = startLineshaft(place.python, [...words, "--workspace", `vscode:${place.root}`], {
    LINESHAFT_INVOCATION: from.invocation,
  });
  const stopping = token.onCancellationRequested(() => { child.kill("SIGTERM"); });
  if (token.isCancellationRequested) child.kill("SIGTERM");
  try {
    const said = await saidBy(child, code);
    if (token.isCancellationRequested) throw new vscode.CancellationError();
    if (said.out === "") throw new Error(said.err.trim() || "the script did not run");
    return JSON.parse(said.out) as Run;
  } finally {
    stopping.dispose();
  }
}

/** The result of a run as a model reads it: JSON. */
function answered(run: Run): string {
  const told = ["run_id", "status", "value", "stdout", "error", "changes", "pending"];
  const text = JSON.stringify(Object.fromEntries(told.map((name) => [name, run[name] ?? null])));
  if (text.length <= MOST_ANSWERED) return text;
  const note = `the result has ${text.length} characters: return less, or print it to a file`;
  return JSON.stringify({ run_id: run["run_id"], status: run["status"], error: run["error"], note });
}

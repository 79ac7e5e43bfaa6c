/**
 * Scripts of the editor's own agents: the language-model tool `run_agent_script`.
 *
 * A script runs by `lineshaft run` in the folder that this window shows, under its policy; what that
 * asks about is asked here. To cancel the tool's call ends the run.
 */

import * as vscode from "vscode";

import { startLineshaft } from "../python/lineshaft.ts";
import type { Invocations } from "./tools.ts";

export const TOOL = "run_agent_script";
/** As a model's scripts have it everywhere. */
const MOST_CALLS = 50;
const MOST_ANSWERED = 60_000;

export interface Place {
  readonly root: string;
  readonly python: string;
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
    const text = await ran({ ...place, invocation }, code, token).finally(() => {
      this.#invocations.ended(invocation);
    });
    return new vscode.LanguageModelToolResult([new vscode.LanguageModelTextPart(text)]);
  }
}

/** Runs a script, and returns its result as a model reads it: JSON. */
async function ran(place: Place & { invocation: string }, code: string, token: vscode.CancellationToken): Promise<string> {
  const words = ["run", "-", "--json", "--limit", `calls=${MOST_CALLS}`];
  const child = startLineshaft(place.python, [...words, "--workspace", `vscode:${place.root}`], {
    LINESHAFT_INVOCATION: place.invocation,
  });
  const stopping = token.onCancellationRequested(() => { child.kill("SIGTERM"); });
  if (token.isCancellationRequested) child.kill("SIGTERM");
  try {
    const said = { out: "", err: "" };
    child.stdout.setEncoding("utf8").on("data", (part: string) => { said.out += part; });
    child.stderr.setEncoding("utf8").on("data", (part: string) => { said.err += part; });
    child.stdin.on("error", () => undefined);
    child.stdin.end(code);
    await new Promise<void>((done, failed) => {
      child.once("error", failed);
      child.once("close", () => { done(); });
    });
    if (token.isCancellationRequested) throw new vscode.CancellationError();
    if (said.out === "") throw new Error(said.err.trim() || "the script did not run");
    return answered(JSON.parse(said.out) as Record<string, unknown>);
  } finally {
    stopping.dispose();
  }
}

function answered(run: Record<string, unknown>): string {
  const told = ["run_id", "status", "value", "stdout", "error", "changes", "pending"];
  const text = JSON.stringify(Object.fromEntries(told.map((name) => [name, run[name] ?? null])));
  if (text.length <= MOST_ANSWERED) return text;
  const note = `the result has ${text.length} characters: return less, or print it to a file`;
  return JSON.stringify({ run_id: run["run_id"], status: run["status"], error: run["error"], note });
}

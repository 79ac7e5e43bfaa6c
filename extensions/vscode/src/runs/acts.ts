/**
 * What a person does about a run: show it, undo it, stop it, answer what it waits for.
 *
 * Undo and resume are Lineshaft's own commands: what they refuse at a terminal they refuse here.
 */

import * as vscode from "vscode";

import type { ActionEvent, Observation, WaitingCall } from "../protocol/frames.ts";
import { answerOf, endStarted, saidBy, startLineshaft } from "../python/lineshaft.ts";
import { RunDocuments } from "./contents.ts";
import type { Python } from "../python/carried.ts";
import type { RunReader } from "./reader.ts";
import { answerWords } from "./answers.ts";
import { besideRun, type RunLine, type Standing, standingOf, titleOfRun, undoneText } from "./told.ts";
import type { Row, RunTree } from "./tree.ts";

/** What the window gives to who acts on runs. */
export interface Desk {
  readonly python: Python;
  /** The folder, as `--workspace` takes it: with `vscode:` where the window is connected. */
  workspace(): Promise<string>;
  reader(): Promise<RunReader>;
  /** Asks the person which calls may be made. */
  approve(event: ActionEvent, signal: AbortSignal): Promise<Observation>;
  /** Ends the agent that this window began; false: the run is not its. */
  stopAgent(run: string): Promise<boolean>;
  log(text: string): void;
}

type Chosen = Row | string | undefined;

export class RunActs implements vscode.Disposable {
  readonly #desk: () => Desk;
  readonly #tree: RunTree;
  readonly #documents = new RunDocuments();
  readonly #registered: vscode.Disposable[];

  constructor(tree: RunTree, desk: () => Desk) {
    this.#tree = tree;
    this.#desk = desk;
    const acts: Record<string, (...given: never[]) => Promise<void>> = {
      showRun: (row: Chosen) => this.#show(row),
      undoRun: (row: Chosen) => this.#undo(row),
      stopRun: (row: Chosen) => this.#stop(row),
      approveRun: (row: Chosen) => this.#approve(row),
      openChange: (run: string, path: string) => this.#diff(run, path),
    };
    this.#registered = Object.entries(acts).map(([name, act]) =>
      vscode.commands.registerCommand(`lineshaft.${name}`, async (...given: never[]) => {
        try {
          await act(...given);
        } catch (error) {
          if (error instanceof vscode.CancellationError) return;
          const text = error instanceof Error ? error.message : String(error);
          this.#desk().log(`${name}: ${text}`);
          void vscode.window.showErrorMessage(`Lineshaft: ${text.slice(0, 500)}`);
        }
      }));
  }

  async #show(row: Chosen): Promise<void> {
    const run = await this.#chosen(row, "show", ["running", "waiting", "interrupted", "over"]);
    if (run === undefined) return;
    const { out, err } = await saidBy(await this.#started(["show", run]));
    if (out === "") throw new Error(err.trim() || `run ${run} cannot be shown`);
    await this.#documents.show(run, out);
  }

  async #undo(row: Chosen): Promise<void> {
    const run = await this.#chosen(row, "undo", ["waiting", "interrupted", "over"]);
    if (run === undefined) return;
    const told = await answerOf(await this.#started(["undo", run, "--json"]));
    const text = `Run ${run} is undone: ${undoneText(told)}`;
    this.#desk().log(`${text} ${JSON.stringify(told)}`);
    void vscode.window.showInformationMessage(`Lineshaft: ${text}`);
  }

  async #stop(row: Chosen): Promise<void> {
    const id = await this.#chosen(row, "stop", ["running", "waiting", "interrupted"]);
    if (id === undefined) return;
    const { line } = await (await this.#desk().reader()).run(id);
    const standing = standingOf(line);
    if (standing === "over") throw new Error(`run ${id} is over: it ended as ${line.status}`);
    if (standing !== "running") {
      const { err } = await saidBy(await this.#started(["resume", id, "--cancel"]));
      if (!err.includes(`cancelled ${id}`)) throw new Error(err.trim() || `run ${id} was not ended`);
      void vscode.window.showInformationMessage(`Lineshaft: run ${id} is ended`);
      return;
    }
    if (await this.#desk().stopAgent(id)) return;
    if (line.process === null) {
      throw new Error(`run ${id} goes on where its process is not known here: end it there`);
    }
    if (endStarted(line.process)) return;
    const end = "End That Process";
    const answer = await vscode.window.showWarningMessage(
      `Run ${id} goes on in process ${line.process}, which this window did not start.`,
      { modal: true, detail: "The process is told to end. All its runs end with it." },
      end,
    );
    if (answer !== end) return;
    // While the question stood it may have ended, and its number be another program's.
    const { line: now } = await (await this.#desk().reader()).run(id);
    if (now.process === line.process) process.kill(line.process, "SIGTERM");
  }

  async #approve(row: Chosen): Promise<void> {
    const id = await this.#chosen(row, "approve", ["waiting"]);
    if (id === undefined) return;
    const { waiting } = await (await this.#desk().reader()).run(id);
    if (waiting.length === 0) throw new Error(`run ${id} waits for no answer`);
    const words = answerWords(await this.#answers(id, waiting));
    const title = `Lineshaft: run ${id} goes on`;
    const options = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
    const told = await vscode.window.withProgress(options, async (_, token) => {
      const child = await this.#started(["resume", id, ...words, "--json"]);
      const stopping = token.onCancellationRequested(() => { child.kill("SIGTERM"); });
      try {
        return await answerOf(child);
      } finally {
        stopping.dispose();
      }
    });
    void vscode.window.showInformationMessage(`Lineshaft: run ${id}: ${String(told["status"])}`);
  }

  async #answers(run: string, calls: readonly WaitingCall[]): Promise<Observation> {
    const event: ActionEvent = { id: `run/${run}`, action: { kind: "approve", calls }, timeout: null };
    return await this.#desk().approve(event, new AbortController().signal);
  }

  async #diff(run: string, path: string): Promise<void> {
    const contents = await (await this.#desk().reader()).change(run, path);
    if (contents.note !== "") throw new Error(`${path}: ${contents.note}`);
    await this.#documents.diff(run, path, contents);
  }

  async #started(words: readonly string[]): Promise<ReturnType<typeof startLineshaft>> {
    const desk = this.#desk();
    const workspace = await desk.workspace();
    const variables = { NO_COLOR: "1" };
    return startLineshaft(desk.python, [...words, "--workspace", workspace], variables);
  }

  /** The run of a row, or one that the person picks among those with which it can be done. */
  async #chosen(row: Chosen, verb: string, may: readonly Standing[]): Promise<string | undefined> {
    if (typeof row === "string") return row;
    if (row?.kind === "run") return row.run.id;
    const reader = await this.#desk().reader();
    const { runs } = this.#tree.runs.length > 0 ? this.#tree : await reader.newest("");
    const items = runs.filter((run) => may.includes(standingOf(run))).map(itemOf);
    const chosen = await vscode.window.showQuickPick(items, {
      title: `Lineshaft: ${verb} which run?`,
      placeHolder: items.length === 0 ? "There is no run of which that can be done" : "The newest first",
    });
    return chosen?.id;
  }

  dispose(): void {
    this.#documents.dispose();
    for (const each of this.#registered) each.dispose();
  }
}

function itemOf(run: RunLine): vscode.QuickPickItem & { id: string } {
  // A list draws `$(name)` as an icon: a joiner keeps it a text.
  const plain = (text: string): string => text.replaceAll("$(", "$\u2060(");
  return { id: run.id, label: plain(titleOfRun(run)), description: besideRun(run), detail: run.id };
}

/**
 * The view of runs: the newest first, each with its calls and the files that it changed.
 */

import * as vscode from "vscode";

import { seen } from "../window/texts.ts";
import type { RunReader } from "./reader.ts";
import {
  besideCall,
  besideChange,
  besideRun,
  callsUnder,
  counted,
  type RunCall,
  type RunChange,
  type RunDetail,
  type RunLine,
  type RunList,
  rowsShown,
  standingOf,
  titleOfRun,
} from "./told.ts";

export type Row =
  | { readonly kind: "run"; readonly run: RunLine }
  | { readonly kind: "call"; readonly detail: RunDetail; readonly call: RunCall }
  | { readonly kind: "change"; readonly detail: RunDetail; readonly change: RunChange; readonly place: number }
  | { readonly kind: "note"; readonly id: string; readonly text: string };

export const VIEW = "lineshaft.runs";
const AGAIN_MS = 2_000;

const ICONS: Readonly<Record<string, string>> = {
  success: "pass", done: "pass", running: "sync~spin", paused: "question", pending: "question",
  interrupted: "debug-disconnect", unknown: "question", cancelled: "circle-slash", expired: "history",
  refused: "error", failed: "error",
};

export class RunTree implements vscode.TreeDataProvider<Row>, vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.#changed.event;
  readonly #view: vscode.TreeView<Row>;
  readonly #log: (text: string) => void;
  readonly #details = new Map<string, RunDetail>();
  #reader: RunReader | undefined;
  #list: RunList = { runs: [], mark: "" };
  #looking: AbortController | undefined;

  constructor(log: (text: string) => void) {
    this.#log = log;
    this.#view = vscode.window.createTreeView<Row>(VIEW, { treeDataProvider: this, showCollapseAll: true });
    this.#view.onDidChangeVisibility(() => { this.#look(); });
  }

  get runs(): readonly RunLine[] {
    return this.#list.runs;
  }

  /** Shows the runs that a host tells; undefined: there is none. */
  tellOf(reader: RunReader | undefined): void {
    if (this.#reader === reader) return;
    this.#reader = reader;
    this.#looking?.abort();
    this.#looking = undefined;
    this.#take({ runs: [], mark: "" });
    this.#look();
  }

  /** Looks for other runs as long as somebody looks at the view. */
  #look(): void {
    const reader = this.#reader;
    if (reader === undefined || !this.#view.visible) {
      this.#looking?.abort();
      this.#looking = undefined;
    } else if (this.#looking === undefined) {
      const stop = (this.#looking = new AbortController());
      void this.#keepLooking(reader, stop.signal);
    }
  }

  async #keepLooking(reader: RunReader, signal: AbortSignal): Promise<void> {
    const isOver = (): boolean => signal.aborted;
    let said = "";
    while (!isOver()) {
      try {
        const list = await reader.newest(this.#list.mark, signal);
        if (!isOver() && list.mark !== this.#list.mark) this.#take(list);
        said = "";
      } catch (error) {
        if (isOver()) return;
        const text = error instanceof Error ? error.message : String(error);
        if (text !== said) this.#log(`runs cannot be shown: ${text}`);
        this.#view.message = `Runs cannot be shown now: ${text}`;
        said = text;
        await new Promise((done) => setTimeout(done, AGAIN_MS));
      }
    }
  }

  #take(list: RunList): void {
    const before = rowsShown(this.#list.runs);
    this.#list = list;
    delete this.#view.message;
    const known = new Map(list.runs.map((run) => [run.id, run.last]));
    const old = [...this.#details].filter(([id, detail]) => known.get(id) !== detail.line.last);
    for (const [id] of old) this.#details.delete(id);
    // A row that is drawn anew loses the click that has begun on it.
    if (old.length > 0 || rowsShown(list.runs) !== before) this.#changed.fire(undefined);
  }

  async getChildren(row?: Row): Promise<Row[]> {
    if (row === undefined) return this.#list.runs.map((run) => ({ kind: "run", run }));
    if (row.kind === "call") return callRows(row.detail, row.call.id);
    if (row.kind !== "run" || this.#reader === undefined) return [];
    try {
      const detail = this.#details.get(row.run.id) ?? await this.#reader.run(row.run.id);
      this.#details.set(row.run.id, detail);
      return rowsOf(detail);
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      return [{ kind: "note", id: `${row.run.id}/failed`, text }];
    }
  }

  getTreeItem(row: Row): vscode.TreeItem {
    switch (row.kind) {
      case "run":
        return itemOfRun(row.run);
      case "call":
        return itemOfCall(row.detail, row.call);
      case "change":
        return itemOfChange(row.detail.line.id, row.change, row.place);
      case "note": {
        const item = new vscode.TreeItem(seen(row.text));
        item.id = row.id;
        return item;
      }
    }
  }

  dispose(): void {
    this.tellOf(undefined);
    this.#view.dispose();
    this.#changed.dispose();
  }
}

function rowsOf(detail: RunDetail): Row[] {
  const { line } = detail;
  const rows: Row[] = callRows(detail, null);
  rows.push(...detail.changes.map((change, place): Row => ({ kind: "change", detail, change, place })));
  const note = (id: string, text: string): Row => ({ kind: "note", id: `${line.id}/${id}`, text });
  if (detail.leftOut > 0) rows.push(note("left", `${counted(detail.leftOut, "line")} left out`));
  if (detail.error !== "") rows.push(note("error", detail.error));
  if (rows.length === 0) rows.push(note("none", "It has made no call and changed no file."));
  return rows;
}

function callRows(detail: RunDetail, parent: string | null): Row[] {
  return callsUnder(detail.calls, parent).map((call) => ({ kind: "call", detail, call }));
}

function itemOfRun(run: RunLine): vscode.TreeItem {
  const item = new vscode.TreeItem(titleOfRun(run), vscode.TreeItemCollapsibleState.Collapsed);
  item.id = run.id;
  item.description = besideRun(run);
  item.tooltip = seen([run.id, run.started, run.origin].filter((each) => each !== "").join(" · "));
  item.iconPath = new vscode.ThemeIcon(ICONS[run.status] ?? "error");
  item.contextValue = `lineshaft-run-${standingOf(run)}`;
  item.accessibilityInformation = { label: `run ${titleOfRun(run)}, ${besideRun(run)}` };
  return item;
}

function itemOfCall(detail: RunDetail, call: RunCall): vscode.TreeItem {
  const item = new vscode.TreeItem(
    seen(call.text),
    callsUnder(detail.calls, call.id).length > 0
      ? vscode.TreeItemCollapsibleState.Collapsed
      : vscode.TreeItemCollapsibleState.None,
  );
  item.id = `${detail.line.id}/call/${call.id}`;
  item.description = besideCall(call);
  item.tooltip = `${seen(call.text)}\n${besideCall(call)}`;
  item.iconPath = new vscode.ThemeIcon(ICONS[call.status] ?? "error");
  return item;
}

function itemOfChange(run: string, change: RunChange, place: number): vscode.TreeItem {
  const item = new vscode.TreeItem(seen(change.path));
  item.id = `${run}/change/${place}`;
  item.description = besideChange(change);
  item.iconPath = vscode.ThemeIcon.File;
  item.resourceUri = vscode.Uri.from({ scheme: "lineshaft", path: `/${change.path}` });
  item.command = { command: "lineshaft.openChange", title: "Open Diff", arguments: [run, change.path] };
  return item;
}

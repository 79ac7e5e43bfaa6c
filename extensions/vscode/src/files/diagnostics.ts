/**
 * The action `get_errors`: what language servers and linters of the window say of files.
 */

import { stat } from "node:fs/promises";
import * as paths from "node:path";
import * as vscode from "vscode";

import { ActionError, type GetErrorsAction, type Json, type Observation } from "../protocol/frames.ts";
import { isWithin, placeOf } from "./paths.ts";

const QUIET_MS = 1_000;
/** For a server that answered before. */
const FIRST_MS = 3_000;
/** For one that may have to start. */
const START_MS = 20_000;
const MOST_MS = 30_000;
const MOST = 1_000;
const SEVERITIES = ["error", "warning", "info", "hint"] as const;

export class Diagnostics {
  readonly #root: string;
  /** Languages whose servers were waited for. */
  readonly #warm = new Set<string>();

  constructor(root: string) {
    this.#root = root;
  }

  /** Opens the files, since servers report of open ones, and waits for quiet. */
  async get(action: GetErrorsAction, signal: AbortSignal): Promise<Observation> {
    const documents = action.paths === null ? null : await opened(this.#root, action.paths);
    const cold = documents?.some((each) => !this.#warm.has(each.languageId)) === true;
    const settled = await quiet(signal, cold ? START_MS : FIRST_MS, cold);
    if (settled) for (const each of documents ?? []) this.#warm.add(each.languageId);
    const places = documents?.map((each) => each.uri.fsPath);
    const found = vscode.languages
      .getDiagnostics()
      .filter(([uri]) => uri.scheme === "file" && isWithin(this.#root, uri.fsPath))
      .filter(([uri]) => places?.includes(uri.fsPath) !== false)
      .flatMap(([uri, all]) => all.map((each) => ({ uri, each })))
      .sort((one, other) => one.each.severity - other.each.severity)
      .map(({ uri, each }) => told(paths.relative(this.#root, uri.fsPath), each));
    const shown = found.slice(0, MOST);
    return {
      observation: "get_errors",
      content: shown.map((each) => each.line).join("\n"),
      extras: {
        count: found.length,
        diagnostics: shown.map((each) => each.diagnostic),
        settled,
        truncated: found.length > MOST,
      },
    };
  }
}

async function opened(root: string, given: readonly string[]): Promise<vscode.TextDocument[]> {
  const documents: vscode.TextDocument[] = [];
  for (const path of given) {
    const place = await placeOf(root, path);
    const found = await stat(place.real).catch(() => null);
    if (found?.isFile() !== true) {
      throw new ActionError("E_FILE_NOT_FOUND", `there is no file '${place.path}'`);
    }
    documents.push(await vscode.workspace.openTextDocument(vscode.Uri.file(place.real)));
  }
  return documents;
}

/**
 * Waits until no diagnostic has changed for a second; false where that takes too long, and where
 * nothing at all came of a server that may still start.
 */
async function quiet(signal: AbortSignal, first: number, cold: boolean): Promise<boolean> {
  return await new Promise((done) => {
    let timer = setTimeout(end, first, !cold);
    const over = setTimeout(end, MOST_MS, false);
    const listening = vscode.languages.onDidChangeDiagnostics(() => {
      clearTimeout(timer);
      timer = setTimeout(end, QUIET_MS, true);
    });
    signal.addEventListener("abort", stop, { once: true });
    function stop(): void {
      end(false);
    }
    function end(settled: boolean): void {
      clearTimeout(timer);
      clearTimeout(over);
      listening.dispose();
      signal.removeEventListener("abort", stop);
      done(settled);
    }
  });
}

function told(relative: string, each: vscode.Diagnostic): { line: string; diagnostic: Json } {
  const path = relative.split(paths.sep).join("/");
  const { start, end } = each.range;
  const severity = SEVERITIES[each.severity];
  const code = typeof each.code === "object" ? each.code.value : each.code;
  return {
    line: `${path}:${start.line + 1}:${start.character + 1}: ${severity}: ${each.message}`,
    diagnostic: {
      path,
      range: [start.line + 1, start.character + 1, end.line + 1, end.character + 1],
      severity,
      message: each.message,
      code: code === undefined ? null : String(code),
      source: each.source ?? null,
    },
  };
}

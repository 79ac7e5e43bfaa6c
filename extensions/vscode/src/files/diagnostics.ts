/**
 * The action `get_errors`: what language servers and linters of the window say of files.
 */

import { stat } from "node:fs/promises";
import * as paths from "node:path";
import * as vscode from "vscode";

import { ActionError, type GetErrorsAction, type Json, type Observation } from "../protocol/frames.ts";
import { documentOf } from "./documents.ts";
import { isWithin, placeOf, realOf } from "./paths.ts";
import { BackgroundTabs } from "./tabs.ts";

const QUIET_MS = 1_000;
/** After the first word of a server that may have started just now. */
const COLD_QUIET_MS = 5_000;
/** For a server that answered before. */
const FIRST_MS = 3_000;
/** For one that may have to start. */
const START_MS = 20_000;
const MOST_MS = 30_000;
const MOST = 1_000;
const SEVERITIES = ["error", "warning", "info", "hint"] as const;

/** How a look waits. */
interface Wait {
  /** For the first word. */
  readonly first: number;
  /** After the last one. */
  readonly quiet: number;
  /** Whether silence is a word too. */
  readonly mayBeSilent: boolean;
}

export class Diagnostics {
  readonly #tabs = new BackgroundTabs();
  /** Languages whose servers were waited for. */
  readonly #warm = new Set<string>();
  /** Files whose text has changed since something was found in them: a server says more of them. */
  readonly #outdated = new Set<string>();
  readonly #listening = vscode.Disposable.from(
    vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
      const found = vscode.languages.getDiagnostics(document.uri);
      if (contentChanges.length > 0 && found.length > 0) this.#outdated.add(document.uri.toString());
    }),
    vscode.languages.onDidChangeDiagnostics(({ uris }) => {
      for (const each of uris) this.#outdated.delete(each.toString());
    }),
  );

  dispose(): void {
    this.#listening.dispose();
  }

  /** Has the files open in tabs, since servers report of those alone, and waits for quiet. */
  async get(root: string, action: GetErrorsAction, signal: AbortSignal): Promise<Observation> {
    const documents = action.paths === null ? null : await opened(root, action.paths);
    const files = documents?.map((each) => each.uri) ?? [];
    return await this.#tabs.during(files, async () => {
      const settled = await this.#settled(documents ?? [], signal);
      return await gathered(root, documents, settled);
    });
  }

  async #settled(documents: readonly vscode.TextDocument[], signal: AbortSignal): Promise<boolean> {
    const isCold = documents.some((each) => !this.#warm.has(each.languageId));
    const isOwed = (): boolean => documents.some((each) => this.#outdated.has(each.uri.toString()));
    const waits = isCold || isOwed();
    const wait: Wait = {
      first: waits ? START_MS : FIRST_MS,
      quiet: isCold ? COLD_QUIET_MS : QUIET_MS,
      mayBeSilent: !waits,
    };
    const settled = await quiet(signal, wait, isOwed);
    if (settled) for (const each of documents) this.#warm.add(each.languageId);
    return settled;
  }
}

async function gathered(
  root: string,
  documents: readonly vscode.TextDocument[] | null,
  settled: boolean,
): Promise<Observation> {
  const asked = documents && (await Promise.all(documents.map((each) => relativeOf(root, each.uri))));
  const all = vscode.languages
    .getDiagnostics()
    .filter(([uri, diagnostics]) => uri.scheme === "file" && diagnostics.length > 0)
    .map(async ([uri, diagnostics]) => ({ path: await relativeOf(root, uri), diagnostics }));
  const found = (await Promise.all(all))
    .flatMap(({ path, diagnostics }) => path === null ? [] : diagnostics.map((each) => ({ path, each })))
    .filter(({ path }) => asked?.includes(path) !== false)
    .sort((one, other) => one.each.severity - other.each.severity)
    .map(({ path, each }) => told(path, each));
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

/** Returns where a file lies in the folder, symlinks followed; null: outside of it. */
async function relativeOf(root: string, { fsPath }: vscode.Uri): Promise<string | null> {
  const real = await realOf(fsPath).catch(() => fsPath);
  return isWithin(root, real) ? paths.relative(root, real) : null;
}

async function opened(root: string, given: readonly string[]): Promise<vscode.TextDocument[]> {
  const documents: vscode.TextDocument[] = [];
  for (const path of given) {
    const place = await placeOf(root, path);
    const found = await stat(place.real).catch(() => null);
    if (found?.isFile() !== true) {
      throw new ActionError("E_FILE_NOT_FOUND", `there is no file '${place.path}'`);
    }
    documents.push(await documentOf(place));
  }
  return documents;
}

/**
 * Waits until no diagnostic has changed for some time; false where that takes too long, and where
 * nothing at all came of a server that may still start, or of one that owes a word.
 */
async function quiet(signal: AbortSignal, wait: Wait, isOwed: () => boolean): Promise<boolean> {
  return await new Promise((done) => {
    let timer = setTimeout(end, wait.first, wait.mayBeSilent);
    const over = setTimeout(end, MOST_MS, false);
    const listening = vscode.languages.onDidChangeDiagnostics(() => {
      if (isOwed()) return;
      clearTimeout(timer);
      timer = setTimeout(end, wait.quiet, true);
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

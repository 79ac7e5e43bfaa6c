/**
 * Texts of runs as documents that nobody can change: a run as a whole, a file before and after it.
 */

import * as vscode from "vscode";

import type { Contents } from "./reader.ts";

const SCHEME = "lineshaft";
const MOST_KEPT = 50;

export class RunDocuments implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #texts = new Map<string, string>();
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly #registered = vscode.workspace.registerTextDocumentContentProvider(SCHEME, this);
  readonly onDidChange = this.#changed.event;

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.#texts.get(uri.toString()) ?? "This text is not kept any longer: show it again.";
  }

  /** Shows a text of a run. */
  async show(run: string, text: string): Promise<void> {
    const uri = this.#keep(run, `${run}.txt`, "run", text);
    await vscode.window.showTextDocument(uri, { preview: true });
  }

  /** Opens the diff editor on what a run made of a file. */
  async diff(run: string, path: string, contents: Contents): Promise<void> {
    const before = this.#keep(run, path, "before", contents.before);
    const after = this.#keep(run, path, "after", contents.after);
    const title = `${path} (run ${run})`;
    await vscode.commands.executeCommand("vscode.diff", before, after, title, { preview: true });
  }

  #keep(run: string, path: string, side: string, text: string): vscode.Uri {
    const uri = vscode.Uri.from({ scheme: SCHEME, path: `/${path}`, query: `${side}=${run}` });
    const key = uri.toString();
    this.#texts.delete(key);
    this.#texts.set(key, text);
    for (const oldest of this.#texts.keys()) {
      if (this.#texts.size <= MOST_KEPT) break;
      this.#texts.delete(oldest);
    }
    this.#changed.fire(uri);
    return uri;
  }

  dispose(): void {
    this.#registered.dispose();
    this.#changed.dispose();
  }
}

/**
 * Texts that are shown beside a question: one tab for each kind, without taking the focus.
 *
 * They are nobody's documents: nothing of them is to be saved, and the next text takes the place.
 */

import * as vscode from "vscode";

const SCHEME = "lineshaft-shown";
/** By its name the editor knows the language. */
const PLACES = { plaintext: "Lineshaft.txt", diff: "Lineshaft.diff" } as const;

const texts = new Map<string, string>();
const changed = new vscode.EventEmitter<vscode.Uri>();

/** Has the editor find what is shown, as long as the extension is active. */
export function showsTexts(): vscode.Disposable {
  return vscode.workspace.registerTextDocumentContentProvider(SCHEME, {
    onDidChange: changed.event,
    provideTextDocumentContent: (uri) => texts.get(uri.path) ?? "",
  });
}

export async function showText(kind: keyof typeof PLACES, content: string): Promise<void> {
  const uri = vscode.Uri.from({ scheme: SCHEME, path: `/${PLACES[kind]}` });
  texts.set(uri.path, content);
  changed.fire(uri);
  const document = await vscode.workspace.openTextDocument(uri);
  await vscode.window.showTextDocument(document, { preview: true, preserveFocus: true });
}

/**
 * Texts that are shown beside a question: in the tab that is reused, without taking the focus.
 */

import * as vscode from "vscode";

export async function showText(language: string, content: string): Promise<void> {
  const document = await vscode.workspace.openTextDocument({ language, content });
  await vscode.window.showTextDocument(document, { preview: true, preserveFocus: true });
}

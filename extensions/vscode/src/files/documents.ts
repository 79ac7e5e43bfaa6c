/**
 * Writes of text files through the editor, where it gives the same bytes back; else to the disk.
 *
 * A write is one `WorkspaceEdit` of one file and a save, so that one undo of the user takes it back.
 */

import { chmod, mkdir, readFile, rename, stat, unlink, writeFile } from "node:fs/promises";
import * as paths from "node:path";
import * as vscode from "vscode";

import { ActionError } from "../protocol/frames.ts";
import { isSame, type Place, realOf } from "./paths.ts";
import { decodedText, survivesEditor } from "./text.ts";
import { SAVE_MS, within } from "./waiting.ts";

export const MOST_BYTES = 10_000_000;
const RELOAD_MS = 5_000;

/** What a file holds: on the disk, or in a buffer with changes that are not saved. */
export interface Held {
  readonly data: Uint8Array;
  /** Text of the buffer, where it has changes; null: the disk is what counts. */
  readonly unsaved: string | null;
}

export class Documents {
  /** Versions of buffers with unsaved changes, as they were read last. */
  readonly #seen = new WeakMap<vscode.TextDocument, number>();

  /** Reads a file; `shown` says whether its text goes to the host, which then has seen it. */
  async read(place: Place, shown: boolean): Promise<Held> {
    const document = await unsavedDocument(place);
    const data = await bytesOf(place);
    if (document?.isDirty !== true) return { data, unsaved: null };
    if (shown) this.#seen.set(document, document.version);
    return { data, unsaved: document.getText() };
  }

  /** Returns the bytes of a file, or null where there is none. */
  async maybe(place: Place): Promise<Uint8Array | null> {
    try {
      return await bytesOf(place);
    } catch (error) {
      if (error instanceof ActionError && error.code === "E_FILE_NOT_FOUND") return null;
      throw error;
    }
  }

  /** Makes a file, parents too. */
  async create(place: Place, data: Uint8Array): Promise<void> {
    await mkdir(paths.dirname(place.real), { recursive: true });
    const edit = new vscode.WorkspaceEdit();
    edit.createFile(vscode.Uri.file(place.real), { contents: data, overwrite: false });
    if (!(await vscode.workspace.applyEdit(edit))) throw stale(place, "could not be made");
    if (!same(await bytesOf(place), data)) throw stale(place, "is not what was written");
  }

  /**
   * Writes a file that exists; returns the bytes that it then has, which formatting on save may
   * have changed.
   */
  async write(place: Place, before: Uint8Array, data: Uint8Array): Promise<Uint8Array> {
    const document = await unsavedDocument(place);
    if (document !== undefined) this.#mayEdit(document, place);
    if (!same(await bytesOf(place), before)) throw stale(place, "was changed meanwhile");
    await writable(place);
    const texts = textsOf(before, data);
    if (texts === null) {
      if ((await unsavedDocument(place)) !== undefined) {
        throw stale(place, "has unsaved changes, and cannot be written by the editor as it is");
      }
      await replaceWhole(place.real, data);
      return data;
    }
    await this.#edit(place, texts.old, texts.now);
    return await bytesOf(place);
  }

  async delete(place: Place): Promise<void> {
    const edit = new vscode.WorkspaceEdit();
    edit.deleteFile(vscode.Uri.file(place.real));
    if (!(await vscode.workspace.applyEdit(edit))) throw stale(place, "could not be deleted");
  }

  async #edit(place: Place, onDisk: string, text: string): Promise<void> {
    const document = await documentOf(place);
    if (!document.isDirty) await reloaded(document, onDisk, place);
    this.#mayEdit(document, place);
    if (!(await vscode.workspace.applyEdit(editOf(document, text)))) throw stale(place, "could not be edited");
    if (!(await within(document.save(), SAVE_MS))) {
      throw stale(place, "was edited, and could not be saved");
    }
    this.#seen.delete(document);
  }

  #mayEdit(document: vscode.TextDocument, place: Place): void {
    if (document.isDirty && this.#seen.get(document) !== document.version) {
      throw stale(place, "has changes in the editor that are not saved and were not read");
    }
  }
}

/** Returns the texts before and after a change; null where the editor does not keep the bytes. */
export function textsOf(before: Uint8Array, after: Uint8Array): { old: string; now: string } | null {
  const old = decodedText(before);
  const now = decodedText(after);
  const survives =
    old !== null && now !== null && old.encoding === now.encoding &&
    survivesEditor(old) && survivesEditor(now) && sameEnds(old.text, now.text);
  return survives ? { old: old.text, now: now.text } : null;
}

/**
 * Returns the document of a file that has changes which are not saved; throws `E_STALE` where it is
 * open by several paths and more than one has some: nobody knows which of them counts.
 */
export async function unsavedDocument(place: Place): Promise<vscode.TextDocument | undefined> {
  const found = (await openDocuments(place, (each) => each.isDirty)).filter((each) => each.isDirty);
  if (found.length > 1) throw stale(place, "is open by several paths, with unsaved changes in each");
  return found[0];
}

/** Returns the document of a file: one that is open, by whatever path, else as the window names it. */
export async function documentOf(place: Place): Promise<vscode.TextDocument> {
  const open = await openDocuments(place, () => true);
  const found = open.find((each) => each.isDirty) ?? open[0];
  return found ?? (await vscode.workspace.openTextDocument(await uriOf(place)));
}

/** Returns open documents of a file. The window does not follow the symlinks of their paths. */
async function openDocuments(
  place: Place,
  which: (document: vscode.TextDocument) => boolean,
): Promise<vscode.TextDocument[]> {
  const all = vscode.workspace.textDocuments.filter(
    (each) => each.uri.scheme === "file" && !each.isClosed && which(each),
  );
  const leads = await Promise.all(all.map((each) => leadsTo(each.uri, place)));
  return all.filter((each, at) => leads[at] === true && !each.isClosed);
}

/** Returns a path of a file below the folder of the window, which may be a symlink. */
async function uriOf(place: Place): Promise<vscode.Uri> {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  const shown = folder?.scheme === "file" ? vscode.Uri.joinPath(folder, place.path) : null;
  return shown !== null && (await leadsTo(shown, place)) ? shown : vscode.Uri.file(place.real);
}

async function leadsTo({ fsPath }: vscode.Uri, place: Place): Promise<boolean> {
  return isSame(await realOf(fsPath).catch(() => fsPath), place.real);
}

/** Waits until a document without changes shows what the disk has. */
export async function reloaded(document: vscode.TextDocument, text: string, place: Place): Promise<void> {
  if (document.getText() === text) return;
  let listening: vscode.Disposable | undefined;
  let timer: NodeJS.Timeout | undefined;
  try {
    await new Promise<void>((done, failed) => {
      timer = setTimeout(() => {
        failed(stale(place, "is shown in the editor with another content than the disk has"));
      }, RELOAD_MS);
      listening = vscode.workspace.onDidChangeTextDocument((event) => {
        if (event.document === document && document.getText() === text) done();
      });
    });
  } finally {
    clearTimeout(timer);
    listening?.dispose();
  }
}

/**
 * Returns the edit that gives a document another text: of the part that differs, and of its line
 * ends, which a document without a line break has by a setting.
 */
export function editOf(document: vscode.TextDocument, text: string): vscode.WorkspaceEdit {
  const [range, part] = difference(document, text);
  const edits = [vscode.TextEdit.replace(range, part)];
  const ends = text.includes("\r\n") ? vscode.EndOfLine.CRLF : vscode.EndOfLine.LF;
  if (text.includes("\n") && document.eol !== ends) edits.push(vscode.TextEdit.setEndOfLine(ends));
  const edit = new vscode.WorkspaceEdit();
  edit.set(document.uri, edits);
  return edit;
}

/** Returns the part of a document that differs from a text, and what stands there instead. */
function difference(document: vscode.TextDocument, text: string): [vscode.Range, string] {
  const old = document.getText();
  const shorter = Math.min(old.length, text.length);
  let head = 0;
  while (head < shorter && old[head] === text[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && old.at(-1 - tail) === text.at(-1 - tail)) tail += 1;
  // Neither a line break nor a character of two units is cut in two.
  while (head > 0 && /[\r\ud800-\udbff]/.test(old[head - 1] ?? "")) head -= 1;
  while (tail > 0 && /[\n\udc00-\udfff]/.test(old.at(-tail) ?? "")) tail -= 1;
  const range = new vscode.Range(document.positionAt(head), document.positionAt(old.length - tail));
  return [range, text.slice(head, text.length - tail)];
}

export function sameEnds(before: string, after: string): boolean {
  const wide = (text: string): boolean | null =>
    text.includes("\n") ? text.includes("\r\n") : null;
  const [old, now] = [wide(before), wide(after)];
  return old === now || (now === null && old !== null) || (old === null && now === false);
}

export async function bytesOf(place: Place): Promise<Uint8Array> {
  try {
    const data = await readFile(place.real);
    if (data.length > MOST_BYTES) {
      const text = `'${place.path}' is larger than ${MOST_BYTES} bytes`;
      throw new ActionError("E_TOO_LARGE", text);
    }
    return data;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ENOENT" || code === "ENOTDIR") {
      throw new ActionError("E_FILE_NOT_FOUND", `there is no file or folder '${place.path}'`);
    }
    if (code === "EISDIR") {
      throw new ActionError("E_TOOL_FAILED", `'${place.path}' is a folder`);
    }
    throw error;
  }
}

export async function writable(place: Place): Promise<void> {
  const { mode } = await stat(place.real);
  if ((mode & 0o222) === 0) {
    throw new ActionError("E_TOOL_FAILED", `'${place.path}' is write-protected`);
  }
}

export async function replaceWhole(real: string, data: Uint8Array): Promise<void> {
  const { mode } = await stat(real);
  const temporary = paths.join(paths.dirname(real), `.lineshaft-${crypto.randomUUID()}.tmp`);
  try {
    await writeFile(temporary, data, { mode: mode & 0o777 });
    await chmod(temporary, mode & 0o777); // a new file has no more than the umask leaves it
    await rename(temporary, real);
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
}

export function same(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0;
}

export function stale(place: Place, text: string): ActionError {
  return new ActionError("E_STALE", `'${place.path}' ${text}`);
}

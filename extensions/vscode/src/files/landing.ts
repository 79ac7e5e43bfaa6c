/**
 * The action `land`: changes of files that are made together.
 *
 * All are looked at before the first is made; then each is an edit of its own, so that one undo of
 * the user takes one file back, and is saved. Where one fails, our own edits are taken back in
 * buffers that nobody has changed since, and the rest is named.
 */

import { mkdir, unlink } from "node:fs/promises";
import * as paths from "node:path";
import * as vscode from "vscode";

import {
  ActionError,
  type FileEdit,
  type Json,
  type LandAction,
  type Observation,
} from "../protocol/frames.ts";
import { shownBytes } from "./buffers.ts";
import {
  bytesOf,
  documentOf,
  editOf,
  reloaded,
  replaceWhole,
  same,
  stale,
  textsOf,
  unsavedDocument,
  writable,
} from "./documents.ts";
import { type Place, placeOf } from "./paths.ts";
import { hashOf } from "./text.ts";
import type { Opened, UnsavedChanges } from "./unsaved.ts";
import { SAVE_MS, within } from "./waiting.ts";

/** A change that was looked at. */
interface Planned {
  /** As it was asked for. */
  readonly path: string;
  readonly place: Place;
  /** Null: there is no file. */
  readonly before: Uint8Array | null;
  readonly after: Uint8Array;
  /** Null: the editor does not keep the bytes, and the disk is written. */
  readonly texts: { readonly old: string; readonly now: string } | null;
}

/** A change that was made. */
interface Made {
  readonly planned: Planned;
  readonly document: vscode.TextDocument | null;
  /**
   * Of the document, after our edit, or after its save, which may have formatted it; null: a person
   * changed it while we did.
   */
  readonly version: number | null;
  readonly text: string;
}

export class Landing {
  readonly #root: string;
  readonly #unsaved: UnsavedChanges;

  constructor(root: string, unsaved: UnsavedChanges) {
    this.#root = root;
    this.#unsaved = unsaved;
  }

  async land(action: LandAction, signal: AbortSignal, open: Opened): Promise<Observation> {
    const touched = (await this.#looked(action.edits)).map((each) => each.place.real);
    await this.#unsaved.mayBeSaved((each) => touched.includes(each.real), signal, open);
    // The person may have typed since.
    const planned = await this.#looked(action.edits);
    const made: Made[] = [];
    try {
      for (const each of planned) {
        if (signal.aborted) throw new ActionError("E_CANCELLED", "the action was stopped");
        const one = await change(each);
        made.push(one);
        made[made.length - 1] = await saved(one); // at once: for what is unsaved, a tab opens
      }
    } catch (error) {
      const rest = await takenBack(made);
      const text = error instanceof Error ? error.message : String(error);
      const code = error instanceof ActionError ? error.code : "E_STALE";
      const left = rest.length === 0 ? "" : `; these stay changed: ${rest.join(", ")}`;
      throw new ActionError(code, `${text}; nothing landed${left}`);
    }
    const files: Json[] = [];
    for (const { planned: each, document } of made) {
      const now = await bytesOf(each.place);
      const data = same(now, each.after) ? null : Buffer.from(now).toString("base64");
      const byEditor = document !== null || each.before === null;
      files.push({ path: each.path, by_editor: byEditor, data });
    }
    return {
      observation: "land",
      content: `${files.length} files are changed and saved`,
      extras: { files },
    };
  }

  /** Looks at all files, and names each that is not as it has to be. */
  async #looked(edits: readonly FileEdit[]): Promise<Planned[]> {
    const planned: Planned[] = [];
    const wrong: string[] = [];
    for (const edit of edits) {
      try {
        planned.push(await look(await placeOf(this.#root, edit.path), edit));
      } catch (error) {
        if (!(error instanceof ActionError) || error.code !== "E_STALE") throw error;
        wrong.push(error.message);
      }
    }
    if (wrong.length > 0) throw new ActionError("E_STALE", `${wrong.join("; ")}; nothing landed`);
    return planned;
  }
}

async function look(place: Place, { path, before, after }: FileEdit): Promise<Planned> {
  const document = await unsavedDocument(place);
  const isDirty = document !== undefined;
  const onDisk = await maybe(place);
  if (before === null) {
    if (onDisk !== null || isDirty) throw stale(place, "is there by now");
    return { path, place, before: null, after, texts: null };
  }
  if (onDisk === null) throw stale(place, "is gone");
  const held = isDirty ? await shownBytes(document, place.real) : onDisk;
  if (held === null || hashOf(held) !== before) {
    throw stale(place, isDirty ? "has unsaved changes that were not read" : "was changed meanwhile");
  }
  await writable(place);
  const texts = textsOf(held, after);
  if (texts === null && isDirty) {
    throw stale(place, "has unsaved changes, and cannot be written by the editor as it is to be");
  }
  return { path, place, before: held, after, texts };
}

async function maybe(place: Place): Promise<Uint8Array | null> {
  try {
    return await bytesOf(place);
  } catch (error) {
    if (error instanceof ActionError && error.code === "E_FILE_NOT_FOUND") return null;
    throw error;
  }
}

async function change(planned: Planned): Promise<Made> {
  const { place, before, after, texts } = planned;
  if (before === null) {
    await mkdir(paths.dirname(place.real), { recursive: true });
    const edit = new vscode.WorkspaceEdit();
    edit.createFile(vscode.Uri.file(place.real), { contents: after, overwrite: false });
    if (!(await vscode.workspace.applyEdit(edit))) throw stale(place, "could not be made");
    return { planned, document: null, version: 0, text: "" };
  }
  if (texts === null) {
    await replaceWhole(place.real, after);
    return { planned, document: null, version: 0, text: "" };
  }
  const document = await documentOf(place);
  if (!document.isDirty) await reloaded(document, texts.old, place);
  await edited(document, texts.old, texts.now, place);
  const text = document.getText();
  return { planned, document, version: isAlike(text, texts.now) ? document.version : null, text };
}

/** Gives a document another text, by one edit of the part that differs. */
async function edited(
  document: vscode.TextDocument,
  old: string,
  text: string,
  place: Place,
): Promise<void> {
  if (document.getText() !== old) throw stale(place, "was changed in the editor just now");
  if (old === text) return;
  if (!(await vscode.workspace.applyEdit(editOf(document, text)))) throw stale(place, "could not be edited");
}

/** Returns whether two texts are the same but for their line ends, which an editor may change. */
function isAlike(one: string, other: string): boolean {
  return one.replaceAll("\r\n", "\n") === other.replaceAll("\r\n", "\n");
}

/** Saves what was edited, and returns how it is then. */
async function saved(made: Made): Promise<Made> {
  const { planned, document } = made;
  if (document !== null && made.text !== planned.texts?.now) {
    throw stale(planned.place, "has another text in the editor than was written");
  }
  const isUnsaved = (): boolean => document?.isDirty === true;
  if (document === null || !isUnsaved()) return made;
  if (!(await within(document.save(), SAVE_MS))) throw stale(planned.place, "could not be saved");
  // What a person has typed since is theirs, and is not taken back.
  return isUnsaved() ? made : { ...made, version: document.version, text: document.getText() };
}

/** Takes changes back, the last first; returns the paths of those that nobody can take back. */
async function takenBack(made: readonly Made[]): Promise<string[]> {
  const rest: string[] = [];
  for (const each of [...made].reverse()) {
    try {
      await takeBack(each);
    } catch {
      rest.push(each.planned.place.path);
    }
  }
  return rest;
}

async function takeBack({ planned, document, version, text }: Made): Promise<void> {
  const { place, before, after, texts } = planned;
  if (document !== null && texts !== null) {
    const wasSaved = !document.isDirty;
    if (document.version !== version) throw stale(place, "was changed in the editor meanwhile");
    await edited(document, text, texts.old, place);
    if (document.getText() !== texts.old) throw stale(place, "is not as it was");
    if (wasSaved && !(await within(document.save(), SAVE_MS))) throw stale(place, "is not saved");
    return;
  }
  if (!same(await bytesOf(place), after)) throw stale(place, "was changed meanwhile");
  if (before === null) await unlink(place.real);
  else await replaceWhole(place.real, before);
}

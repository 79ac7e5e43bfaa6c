/**
 * The action `buffers`: what the window shows and has not saved, as the bytes it would have.
 */

import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import * as paths from "node:path";
import * as vscode from "vscode";

import { ActionError, type BuffersAction, type Json, type Observation } from "../protocol/frames.ts";
import { MOST_BYTES } from "./documents.ts";
import { isWithin, realOf } from "./paths.ts";
import { type DecodedText, decodedText, encoded, hashOf, survivesEditor } from "./text.ts";

const PLAIN: DecodedText = { text: "", encoding: "utf-8", mark: new Uint8Array() };
const NONCE = /^lineshaft-[0-9a-f]{32}\.nonce$/;
const MOST_NONCE_BYTES = 100;

/** A file of the folder with changes that are not saved. */
export interface DirtyFile {
  readonly document: vscode.TextDocument;
  readonly path: string;
  readonly real: string;
  /** Another one after each change. */
  readonly version: string;
}

export class Buffers {
  readonly #root: string;
  /** Who asks outlives a window, and the next one counts its documents and their versions anew. */
  readonly #own = randomUUID();
  /** A number for each document: one that is opened again counts its versions from 1. */
  readonly #numbers = new WeakMap<vscode.TextDocument, number>();
  #last = 0;

  constructor(root: string) {
    this.#root = root;
  }

  async list(action: BuffersAction): Promise<Observation> {
    const buffers: Json[] = [];
    for (const { document, path, real, version } of await this.dirty()) {
      if (action.known.get(path) === version) {
        buffers.push({ path, version, state: "known", data: null });
        continue;
      }
      const data = await shownBytes(document, real);
      buffers.push({
        path,
        version,
        state: data === null ? "unclear" : "sent",
        data: data === null ? null : Buffer.from(data).toString("base64"),
      });
    }
    return {
      observation: "buffers",
      content: buffers.map((each) => String(each["path"])).join("\n"),
      extras: { buffers, nonce: action.nonce === null ? null : await proof(action.nonce) },
    };
  }

  /** The files with changes that are not saved. */
  async dirty(): Promise<readonly DirtyFile[]> {
    const found: DirtyFile[] = [];
    for (const document of vscode.workspace.textDocuments) {
      if (document.uri.scheme !== "file" || !document.isDirty || document.isClosed) continue;
      const real = await realOf(document.uri.fsPath).catch(() => document.uri.fsPath);
      if (!isWithin(this.#root, real)) continue;
      const path = paths.relative(this.#root, real).split(paths.sep).join("/");
      found.push({ document, path, real, version: `${this.#own}.${this.#number(document)}.${document.version}` });
    }
    return found;
  }

  #number(document: vscode.TextDocument): number {
    let found = this.#numbers.get(document);
    if (found === undefined) {
      this.#last += 1;
      found = this.#last;
      this.#numbers.set(document, found);
    }
    return found;
  }
}

/** Returns the bytes that a document would be saved as; null where that is not certain. */
export async function shownBytes(
  document: vscode.TextDocument,
  real: string,
): Promise<Uint8Array | null> {
  const onDisk = await readFile(real).catch(() => null);
  const like = onDisk === null ? PLAIN : decodedText(onDisk);
  if (like === null || !survivesEditor(like)) return null;
  const text = document.getText();
  if (text.length > MOST_BYTES) return null;
  try {
    return encoded(text, like, real);
  } catch (error) {
    if (error instanceof ActionError) return null;
    throw error;
  }
}

/** Returns the hash of a file that the host made, by which it knows that this is its machine. */
async function proof(file: string): Promise<string | null> {
  if (!paths.isAbsolute(file) || !NONCE.test(paths.basename(file))) return null;
  const data = await readFile(file).catch(() => null);
  return data === null || data.length > MOST_NONCE_BYTES ? null : hashOf(data);
}

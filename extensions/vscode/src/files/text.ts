/**
 * Bytes of a file as text and back, without loss: the rules of `values/_decoded_text.py`.
 */

import { createHash } from "node:crypto";

import { ActionError } from "../protocol/frames.ts";

export type Encoding = "utf-8" | "utf-16-le" | "utf-16-be" | "latin-1";

export interface DecodedText {
  readonly text: string;
  readonly encoding: Encoding;
  readonly mark: Uint8Array;
}

const NO_MARK = new Uint8Array();
const UTF8_MARK = Uint8Array.of(0xef, 0xbb, 0xbf);

export function decodedText(data: Uint8Array): DecodedText | null {
  if (starts(data, UTF8_MARK)) {
    const text = utf8(data.subarray(3));
    if (text !== null) return { text, encoding: "utf-8", mark: UTF8_MARK };
  }
  if (data.length % 2 === 0) {
    if (starts(data, [0xff, 0xfe])) {
      const text = Buffer.from(data.subarray(2)).toString("utf16le");
      return { text, encoding: "utf-16-le", mark: Uint8Array.of(0xff, 0xfe) };
    }
    if (starts(data, [0xfe, 0xff])) {
      const text = Buffer.from(data.subarray(2)).swap16().toString("utf16le");
      return { text, encoding: "utf-16-be", mark: Uint8Array.of(0xfe, 0xff) };
    }
  }
  if (data.includes(0)) return null;
  const text = utf8(data);
  if (text !== null) return { text, encoding: "utf-8", mark: NO_MARK };
  return { text: Buffer.from(data).toString("latin1"), encoding: "latin-1", mark: NO_MARK };
}

/** Returns another text, written down the same way. */
export function encoded(text: string, like: DecodedText, path: string): Uint8Array {
  switch (like.encoding) {
    case "utf-8":
      return Buffer.concat([like.mark, Buffer.from(text, "utf8")]);
    case "utf-16-le":
      return Buffer.concat([like.mark, Buffer.from(text, "utf16le")]);
    case "utf-16-be":
      return Buffer.concat([like.mark, Buffer.from(text, "utf16le").swap16()]);
    case "latin-1": {
      const lacking = Array.from(text).find((each) => (each.codePointAt(0) ?? 0) > 0xff);
      if (lacking !== undefined) {
        throw new ActionError(
          "E_TOOL_FAILED",
          `'${path}' is written in latin-1, which has no '${lacking}'`,
        );
      }
      return Buffer.from(text, "latin1");
    }
  }
}

/** Returns whether VS Code gives the same bytes back that it reads: else it does not write them. */
export function survivesEditor(text: DecodedText): boolean {
  if (text.encoding === "latin-1") return false;
  const all: readonly string[] = text.text.match(/\r\n|\r|\n/g) ?? [];
  return new Set(all).size < 2 && !all.includes("\r");
}

function utf8(data: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(data);
  } catch {
    return null;
  }
}

function starts(data: Uint8Array, mark: ArrayLike<number>): boolean {
  return Array.from(mark).every((byte, place) => data[place] === byte);
}

export function hashOf(data: Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}

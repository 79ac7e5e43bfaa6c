/**
 * Messages between this extension and what runs a command in a terminal: JSON, one on a line.
 */

import type { Socket } from "node:net";

import { isTable, type Json } from "../../protocol/frames.ts";

/** Told first by the one that asks for its order. */
export interface Asking {
  readonly id: string;
}

/** The answer: a command to run, once. */
export interface Order {
  readonly command: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** By which its tree is found. */
  readonly mark: string;
  /** By which its output is found. */
  readonly nonce: string;
}

/** A line for the standard input of the command. */
export interface Typed {
  readonly input: string;
}

/** How the command is. */
export type Told =
  | { readonly told: "started"; readonly pid: number }
  | { readonly told: "failed"; readonly text: string }
  | { readonly told: "ended"; readonly code: number | null; readonly signal: NodeJS.Signals | null };

export function tell(socket: Socket, message: Asking | Order | Typed | Told): void {
  socket.write(`${JSON.stringify(message)}\n`);
}

/** Has each message taken as it comes; what is none ends the connection. */
export function takeMessages(socket: Socket, take: (message: Json) => void): void {
  let rest = "";
  socket.setEncoding("utf8");
  socket.on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const message = parsed(line);
      if (isTable(message)) take(message);
      else socket.destroy();
    }
  });
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

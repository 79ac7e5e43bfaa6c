/**
 * Runs one command in a terminal: the program that the extension has the user's shell start.
 *
 * It asks for its order over a socket, and tells there how the command ended: what a terminal shows
 * proves nothing. The command is in a session of its own, so that neither it nor a key that stops
 * jobs reaches this program or the shell; its standard input is what a person types here and what
 * the extension sends, so that no line of it is ever left for the shell.
 */

import { spawn } from "node:child_process";
import { connect } from "node:net";
import { constants } from "node:os";

import type { Json } from "../../protocol/frames.ts";
import { BASH } from "../bash.ts";
import { Tree, withMark } from "../tree.ts";
import { marksOf } from "./heard.ts";
import { type Order, takeMessages, tell } from "./wire.ts";

const [path = "", id = ""] = process.argv.slice(2);
const socket = connect(path);
let take: ((message: Json) => void) | undefined;
let gone = (): void => { leave("this command has run already, or nobody waits for it", 1); };

socket.on("error", () => undefined);
socket.on("connect", () => { tell(socket, { id }); });
socket.on("close", () => { gone(); });
takeMessages(socket, (message) => {
  if (take === undefined) take = run(message as unknown as Order);
  else take(message);
});

/** Starts the command, and returns what takes later messages. */
function run(order: Order): (message: Json) => void {
  const marks = marksOf(order.nonce);
  process.stdout.on("error", () => undefined); // the terminal was closed
  process.stdout.write(`\x1b[2m$ ${harmless(order.command)}\x1b[0m\n${marks.begin}`);
  const TERM = process.env["TERM"] ?? "dumb";
  const [bash, ...words] = BASH;
  const child = spawn(bash, [...words, order.command], {
    cwd: order.cwd,
    env: withMark({ ...order.env, TERM }, order.mark),
    stdio: ["pipe", "inherit", "inherit"],
    detached: true,
  });
  const { pid, stdin } = child;
  const lives = (): boolean => child.exitCode === null && child.signalCode === null;
  const tree = new Tree(order.mark, () => ({ pid, lives: lives() }));
  gone = (): void => void tree.end();
  for (const each of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const) process.on(each, gone);
  process.on("SIGTSTP", () => undefined); // a stopped one could not tell the end
  stdin.on("error", () => undefined);
  if (process.stdin.isTTY) {
    process.stdin.on("error", () => undefined);
    process.stdin.on("data", (data) => { stdin.write(data); });
    process.stdin.on("end", () => { stdin.end(); });
  }
  if (pid !== undefined) tell(socket, { told: "started", pid });
  child.once("error", (error) => {
    tell(socket, { told: "failed", text: error.message });
    end(1);
  });
  child.once("exit", (code, signal) => {
    // What it left behind would print into the shell's own prompt.
    void tree.end().then(() => {
      tell(socket, { told: "ended", code, signal });
      end(code ?? 128 + (signal === null ? 0 : constants.signals[signal]));
    });
  });
  const end = (code: number): void => {
    gone = (): void => { process.exit(code); };
    process.stdout.write(marks.end);
    if (socket.destroyed) gone();
    else socket.end();
  };
  return (message) => {
    if (typeof message["input"] === "string") stdin.write(message["input"]);
  };
}

/** A command's text as it can be shown: with no character that a terminal obeys. */
function harmless(text: string): string {
  return text.replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, "\ufffd");
}

function leave(text: string, code: number): void {
  process.stderr.write(`lineshaft: ${text}\n`);
  process.exit(code);
}

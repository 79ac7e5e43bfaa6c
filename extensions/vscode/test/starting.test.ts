import "./stub/editor.ts";

import assert from "node:assert/strict";
import { once } from "node:events";
import { chmodSync, existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";

import type { ExtensionContext } from "vscode";

import { PROTOCOL } from "../src/protocol/frames.ts";
import { lives, until } from "./stub/processes.ts";
import { sockets } from "./stub/socket.ts";
import { commands, state } from "./stub/vscode.ts";

const { activate, deactivate } = await import("../src/extension.ts");

/** What is run as `lineshaft editor` says where it listens when it is told to, and ends with its input. */
const HOST = (url: string): string => `#!${process.execPath}
process.stdin.on("end", () => process.exit()).resume();
require("node:http").get("${url}/host", (told) => {
  told.once("data", () => console.log('${JSON.stringify({ url, protocol: PROTOCOL })}'));
  told.on("end", () => process.exit());
});
`;

let folder = "";
let server: Server;
/** Requests of the host, and for a conversation, that wait for an answer. */
let asked: Record<"host" | "conversation", Waiting<ServerResponse>>;
let subscriptions: { dispose(): unknown }[];

/** Things that come and are waited for, in order. */
class Waiting<T> {
  readonly #come: T[] = [];
  #wanted: ((thing: T) => void) | null = null;

  put(thing: T): void {
    if (this.#wanted === null) this.#come.push(thing);
    else this.#wanted(thing);
    this.#wanted = null;
  }

  async next(): Promise<T> {
    return this.#come.shift() ?? (await new Promise((done) => { this.#wanted = done; }));
  }
}

beforeEach(async () => {
  asked = { host: new Waiting(), conversation: new Waiting() };
  server = createServer((request, response) => {
    if (request.url === "/host") {
      response.flushHeaders();
      asked.host.put(response);
    } else asked.conversation.put(response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  folder = realpathSync(mkdtempSync(join(tmpdir(), "lineshaft-")));
  const program = join(folder, "host");
  writeFileSync(program, HOST(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
  chmodSync(program, 0o700);
  state.folder = folder;
  state.settings = { python: program };
  sockets.length = 0;
  subscriptions = [];
  const workspaceState = { get: () => undefined, update: () => Promise.resolve() };
  const extension = { packageJSON: { version: "1" } };
  const context = { subscriptions, extensionPath: folder, workspaceState, extension };
  await activate(context as unknown as ExtensionContext);
});
afterEach(async () => {
  await deactivate();
  for (const each of subscriptions) each.dispose();
  state.failed = null;
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true });
});

function converse(response: ServerResponse): void {
  response.setHeader("Content-Type", "application/json");
  response.end(JSON.stringify({ conversation_id: "c" }));
}

/** Tells the host, which is starting, to say where it listens. */
async function told(): Promise<ServerResponse> {
  const host = await asked.host.next();
  host.write("go");
  return host;
}

const OPTIONS = { skip: process.platform === "win32", timeout: 60_000 };

test("a stop while the host starts ends it, and the window is off", OPTIONS, async () => {
  const start = commands.executeCommand("lineshaft.start");
  const host = await asked.host.next();
  const ended = once(host, "close");
  await commands.executeCommand("lineshaft.stop");
  host.write("go");
  void asked.conversation.next().then(converse);
  await start;
  assert.deepEqual([sockets.length, state.status.tooltip], [0, "Lineshaft: off"]);
  await ended;
});

test("a stop while the host gives a conversation leaves no connection, and a start begins anew", OPTIONS, async () => {
  const start = commands.executeCommand("lineshaft.start");
  const ended = once(await told(), "close");
  const conversation = await asked.conversation.next();
  await commands.executeCommand("lineshaft.stop");
  const again = commands.executeCommand("lineshaft.start");
  converse(conversation);
  await Promise.all([start, ended]);
  assert.equal(sockets.length, 0);
  await told();
  converse(await asked.conversation.next());
  await again;
  assert.equal(sockets.length, 1);
});

test("a host that ends before the window is connected to it leaves no connection", OPTIONS, async () => {
  const errors = new Waiting<string>();
  state.failed = (text) => { errors.put(text); };
  const start = commands.executeCommand("lineshaft.start");
  const host = await told();
  const conversation = await asked.conversation.next();
  host.end();
  assert.match(await errors.next(), /the host ended/);
  converse(conversation);
  await start;
  assert.deepEqual([sockets.length, state.status.tooltip], [0, "Lineshaft: off"]);
});

test("a host that ends by itself is started anew, also where a person has started it", OPTIONS, async () => {
  const start = commands.executeCommand("lineshaft.start");
  const host = await told();
  converse(await asked.conversation.next());
  await start;
  sockets[0]?.tell("connect");
  host.end();
  await told();
  converse(await asked.conversation.next());
  await until(() => sockets.length === 2);
});

/** Shorter than a lost link is waited for, at whose end commands end in any case. */
const SOON = { ...OPTIONS, timeout: 25_000 };

test("a window that closes with its link lost ends its commands before it waits for its agent", SOON, async () => {
  state.settings["consent"] = "nothing";
  const start = commands.executeCommand("lineshaft.start");
  await told();
  converse(await asked.conversation.next());
  await start;
  const [socket] = sockets;
  socket?.tell("connect");
  socket?.tell("oh_event", { observation: "agent_state_changed", extras: { agent_state: "running", run_id: "r" } });
  const args = { command: "echo $$ > new; mv new pid; exec sleep 600", hidden: true };
  socket?.tell("oh_event", { id: 1, action: "run", args, execution_target: "editor" });
  const file = join(folder, "pid");
  await until(() => existsSync(file));
  const pid = Number(readFileSync(file, "utf8"));
  socket?.tell("disconnect", "transport close");
  const closing = deactivate();
  await until(() => !lives(pid));
  socket?.tell("connect");
  await closing;
  const said = socket?.sent.filter(([name]) => name === "oh_user_action").map(([, frame]) => frame["args"]);
  assert.deepEqual(said, [{ agent_state: "stopped" }]);
});

import "./stub/editor.ts";

import assert from "node:assert/strict";
import { test } from "node:test";

import type { Kept } from "../src/protocol/executions.ts";
import type { Observation } from "../src/protocol/frames.ts";
import type { Side } from "../src/window/connection.ts";
import { type Socket, sockets } from "./stub/socket.ts";

const { Connection } = await import("../src/window/connection.ts");

const RUN = { action: "run", args: { command: "true" }, execution_target: "editor", timeout: 3 };
const DONE: Observation = { observation: "run", content: "x", extras: {} };

/** A connection of which each action waits until it is ended here, also where it is stopped. */
class Wire {
  readonly begun = new Map<string, (done: Observation) => void>();
  readonly stopped: string[] = [];
  readonly saved: Kept[] = [];
  readonly said: string[] = [];
  readonly connection: InstanceType<typeof Connection>;
  readonly socket: Socket;

  constructor() {
    const side: Side = {
      perform: (event, signal) => new Promise((done) => {
        this.begun.set(event.id, done);
        signal.addEventListener("abort", () => this.stopped.push(event.id));
      }),
      tools: () => [],
      display: () => undefined,
      changed: () => undefined,
      refused: () => undefined,
      log: (_, text) => { this.said.push(text); },
    };
    const memory = { load: () => undefined, save: (_: string, kept: Kept) => { this.saved.push(kept); } };
    const about = { window: "w", editor: "e", version: "1" };
    this.connection = new Connection({ url: "http://127.0.0.1:1", token: "t" }, "c", about, memory, side);
    const socket = sockets.at(-1);
    assert.ok(socket !== undefined);
    this.socket = socket;
    socket.tell("connect");
  }

  /** What was answered to an action. */
  answer(id: number): unknown {
    const frame = this.socket.sent.find(([name, each]) => name === "oh_event" && each["cause"] === id)?.[1];
    return frame && [frame["observation"], (frame["extras"] as Record<string, unknown>)["error_id"]];
  }
}

test("what comes while a connection closes is not begun, and answered", async () => {
  const wire = new Wire();
  wire.socket.tell("oh_event", { ...RUN, id: 1 });
  const closed = wire.connection.close();
  wire.socket.tell("oh_event", { ...RUN, id: 2 });
  assert.deepEqual([...wire.begun.keys()], ["1"]);
  assert.deepEqual(wire.answer(2), ["error", "E_CANCELLED"]);
  wire.begun.get("1")?.(DONE);
  await closed;
  assert.deepEqual([wire.stopped, wire.answer(1), wire.socket.connected], [["1"], ["run", undefined], false]);
});

test("an action that does not end when it is stopped does not keep a connection open", { timeout: 10_000 }, async () => {
  const wire = new Wire();
  wire.socket.tell("oh_event", { ...RUN, id: 1 });
  await wire.connection.close(1);
  assert.equal(wire.socket.connected, false);
  assert.match(wire.said.join("\n"), /have not ended: 1/);
  const kept = wire.saved.length;
  wire.begun.get("1")?.(DONE);
  await Promise.resolve();
  assert.deepEqual([wire.saved.length, wire.saved.at(-1)?.begun, wire.answer(1)], [kept, ["1"], undefined]);
});

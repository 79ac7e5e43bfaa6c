import assert from "node:assert/strict";
import { test } from "node:test";

import { Executions, type Kept } from "../src/protocol/executions.ts";
import { type Json, type Observation } from "../src/protocol/frames.ts";

const RUN: Json = {
  id: 7, action: "run", args: { command: "true" }, execution_target: "editor", timeout: 3,
};
const DONE: Observation = { observation: "run", content: "x", extras: { command: "true" } };

function made(kept?: Kept): { executions: Executions; saved: Kept[] } {
  const saved: Kept[] = [];
  return { executions: new Executions(kept, (each) => { saved.push(each); }), saved };
}

function errorOf(executions: Executions, frame: Json): unknown {
  const told = executions.receive(frame);
  assert.equal(told.kind, "send");
  assert.equal(told.frame["observation"], "error");
  return (told.frame["extras"] as Json)["error_id"];
}

test("an action begins once, and its number and its text are the same id", () => {
  const { executions } = made();
  const told = executions.receive(RUN);
  assert.equal(told.kind, "begin");
  assert.deepEqual(told.event, {
    id: "7",
    timeout: 3,
    action: { kind: "run", command: "true", isInput: false, cwd: null, hidden: false },
  });
  assert.equal(executions.receive({ ...RUN, id: "7" }).kind, "skip");
});

test("a call of a tool is read with its arguments as they are", () => {
  const { executions } = made();
  const args = { name: "count", arguments: { word: "x", deep: [{ n: 1 }] }, sha256: "0" };
  const told = executions.receive({ ...RUN, action: "call_tool", args });
  assert.equal(told.kind, "begin");
  assert.deepEqual(told.event.action, {
    kind: "call_tool", name: "count", input: args.arguments, invocation: "",
  });
});

test("an action that comes again gets the recorded answer, acknowledged or not", () => {
  const { executions } = made();
  executions.receive(RUN);
  const frame = executions.answered("7", DONE);
  assert.deepEqual(executions.receive(RUN), { kind: "send", frame });
  assert.deepEqual(executions.unacknowledged, [frame]);
  executions.acknowledged("7");
  assert.deepEqual(executions.unacknowledged, []);
  assert.deepEqual(executions.receive(RUN), { kind: "send", frame });
});

test("what had begun before the window was loaded again is unknown, and not done anew", () => {
  const first = made();
  first.executions.receive(RUN);
  const again = made(first.saved.at(-1));
  assert.equal(errorOf(again.executions, RUN), "E_UNKNOWN_STATE");
});

test("an answer outlives the window", () => {
  const first = made();
  first.executions.receive(RUN);
  const frame = first.executions.answered("7", DONE);
  const again = made(first.saved.at(-1)).executions;
  assert.deepEqual(again.unacknowledged, [frame]);
  assert.deepEqual(again.receive(RUN), { kind: "send", frame });
});

test("a long answer is not kept beyond the window, and not made anew", () => {
  const first = made();
  first.executions.receive(RUN);
  first.executions.answered("7", { ...DONE, content: "x".repeat(200_000) });
  assert.equal(errorOf(made(first.saved.at(-1)).executions, RUN), "E_UNKNOWN_STATE");
});

test("an answer over 32 MB becomes a clear error", () => {
  const { executions } = made();
  executions.receive(RUN);
  const frame = executions.answered("7", { ...DONE, content: "x".repeat(33 * 1024 * 1024) });
  assert.equal((frame["extras"] as Json)["error_id"], "E_TOO_LARGE");
  assert.match(String(frame["content"]), /^the action was done, but its answer has \d+ bytes/u);
});

test("long answers that the host has are kept up to sixteen million characters", () => {
  const { executions } = made();
  for (const id of [1, 2, 3, 4]) {
    executions.receive({ ...RUN, id });
    executions.answered(String(id), { ...DONE, content: "x".repeat(5_000_000) });
    executions.acknowledged(String(id));
  }
  assert.equal(errorOf(executions, { ...RUN, id: 1 }), "E_UNKNOWN_STATE");
  for (const id of [2, 3, 4]) {
    const told = executions.receive({ ...RUN, id });
    assert.equal(told.kind, "send");
    assert.equal(told.frame["observation"], "run");
  }
});

test("what is not supported, malformed or not confirmed is an error and does not begin", () => {
  const { executions } = made();
  const bad: [Json, string][] = [
    [{ ...RUN, id: 1, action: "run_ipython" }, "E_UNSUPPORTED"],
    [{ ...RUN, id: 2, args: {} }, "E_UNSUPPORTED"],
    [{ ...RUN, id: 3, args: { command: 1 } }, "E_UNSUPPORTED"],
    [{ ...RUN, id: 4, timeout: -1 }, "E_UNSUPPORTED"],
    [{ ...RUN, id: 5, args: { command: "x", confirmation_state: "rejected" } }, "E_DENIED"],
    [{ ...RUN, id: 8, action: "call_tool", args: { name: "a", arguments: [] } }, "E_UNSUPPORTED"],
    [{ ...RUN, id: 6, action: "edit", args: { path: "a", command: "undo" } }, "E_UNSUPPORTED"],
  ];
  for (const [frame, code] of bad) assert.equal(errorOf(executions, frame), code);
  assert.equal(executions.running.size, 0);
});

test("events for display and without an id are left alone", () => {
  const { executions } = made();
  assert.equal(executions.receive({ ...RUN, execution_target: "host" }).kind, "skip");
  for (const id of [null, -1, 1.5, "x", true, "007"]) {
    assert.equal(executions.receive({ ...RUN, id }).kind, "skip");
  }
});

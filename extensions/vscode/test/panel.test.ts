import assert from "node:assert/strict";
import { test } from "node:test";

import { readPerson, type Situation, stateOf } from "../src/panel/messages.ts";
import { pageOf } from "../src/panel/page.ts";
import { Transcript } from "../src/panel/transcript.ts";

function message(source: string, content: unknown): Record<string, unknown> {
  return { source, action: "message", args: { content } };
}

function event(extras: Record<string, unknown>): Record<string, unknown> {
  return { observation: "run_event", content: "", extras: { run_id: "r", ...extras } };
}

function state(agent_state: string): Record<string, unknown> {
  return { observation: "agent_state_changed", extras: { agent_state, run_id: "r" } };
}

function told(...frames: Record<string, unknown>[]): Transcript {
  const made = new Transcript();
  for (const each of frames) made.take(each);
  return made;
}

test("a message, the calls of the agent and its result stand in their order", () => {
  const made = told(
    message("user", "sort it"),
    state("running"),
    event({ kind: "call_asked", call: "1", text: "agents.sort text=...", parent: null }),
    event({ kind: "call_started", call: "1" }),
    event({ kind: "call_asked", call: "2", text: "read_file path=...", parent: "1" }),
    event({ kind: "call_finished", call: "2", status: "done", duration_ms: 3, error: null }),
    event({ kind: "changes", call: null, changes: [{ path: "a.md", kind: "modified", added: 1, removed: 0, undoable: true }] }),
    message("agent", "bug"),
    state("finished"),
  );
  assert.deepEqual(
    made.entries.map((each) => [each.kind, each.text, each.beside, each.depth]),
    [
      ["person", "sort it", "", 0],
      ["call", "agents.sort text=...", "running", 0],
      ["call", "read_file path=...", "done · 3 ms", 1],
      ["change", "a.md", "modified +1 -0", 0],
      ["agent", "bug", "", 0],
    ],
  );
  assert.deepEqual([made.state, made.run], ["finished", "r"]);
});

test("a call that is asked again keeps its place; one that fails says why", () => {
  const asked = event({ kind: "call_asked", call: "1", text: "send", parent: null });
  const made = told(
    asked,
    event({ kind: "verdict", call: "1", text: "rule" }),
    asked,
    event({ kind: "call_finished", call: "1", status: "refused", duration_ms: 0, error: { code: "E_DENIED", message: "no\nway" } }),
  );
  assert.deepEqual(made.entries.map((each) => each.beside), ["refused · 0 ms · E_DENIED: no ⏎ way"]);
});

test("what cannot be seen is shown as escapes, and long texts and transcripts are bounded", () => {
  const hidden = told(message("agent", "a\u202eb\tc\nd"));
  assert.equal(hidden.entries[0]?.text, "a\\u{202e}b\tc\nd");
  const long = told(message("agent", "x".repeat(30_000)));
  assert.match(long.entries[0]?.text ?? "", /10,000 more characters left out$/);
  const many = told(...Array.from({ length: 600 }, (_, number) => message("agent", String(number))));
  assert.equal(many.entries.length, 501);
  assert.match(many.entries[0]?.text ?? "", /^100 earlier lines left out/);
});

test("events that make no sense change nothing, and texts that are none are empty", () => {
  const made = told({}, event({ kind: "call_finished", call: "9" }), { observation: "run_event" }, state("odd"));
  assert.deepEqual([made.entries, made.state], [[], "idle"]);
  assert.equal(told(message("user", { toString: 1 })).entries[0]?.text, "");
});

const NOW: Situation = {
  folder: true, trusted: true, agent: "sort", state: "idle", sending: false, stopping: false, refused: "",
};

test("in a folder that is not trusted nothing may be sent, and the panel says so", () => {
  const shown = stateOf({ ...NOW, trusted: false, state: "running" }, [], false);
  assert.match(shown.status, /not trusted: no agent is started/);
  assert.deepEqual([shown.mayType, shown.maySend, shown.mayStop, shown.problem], [false, false, false, true]);
});

test("without an agent the panel says what to do, and offers it", () => {
  const shown = stateOf({ ...NOW, agent: "" }, [], false);
  assert.match(shown.status, /lineshaft\.agent/);
  assert.deepEqual([shown.lacksAgent, shown.maySend], [true, false]);
});

test("one run at a time: it can be stopped once, and then a message be sent again", () => {
  const running = stateOf({ ...NOW, state: "running" }, [], true);
  assert.deepEqual([running.maySend, running.mayStop, running.taken], [false, true, true]);
  const stopping = stateOf({ ...NOW, state: "running", stopping: true }, [], false);
  assert.deepEqual([stopping.mayStop, stopping.status], [false, "sort is told to stop."]);
  const stopped = stateOf({ ...NOW, state: "stopped" }, [], false);
  assert.deepEqual([stopped.maySend, stopped.mayStop, stopped.status], [true, false, "sort was stopped."]);
  assert.equal(stateOf({ ...NOW, refused: "why" }, [], false).status, "why");
});

test("only what a person can say there is read from the page", () => {
  assert.deepEqual(readPerson({ act: "say", text: "x", more: 1 }), { act: "say", text: "x" });
  assert.deepEqual(readPerson({ act: "stop" }), { act: "stop" });
  for (const odd of [null, "say", {}, { act: "say" }, { act: "say", text: 3 }, { act: "run" }]) {
    assert.equal(readPerson(odd), null);
  }
});

test("the page takes its own style and script alone, makes no request and has no handler in it", () => {
  const page = pageOf("n0nce", 'say("</script><b>")');
  const policy = /content="([^"]*)">/.exec(page)?.[1] ?? "";
  assert.deepEqual(policy.split("; "), [
    "default-src 'none'",
    "style-src 'nonce-n0nce'",
    "script-src 'nonce-n0nce'",
    "form-action 'none'",
    "base-uri 'none'",
  ]);
  assert.equal(page.match(/<\/script/g)?.length, 1);
  assert.doesNotMatch(page, /\b(?:src|href|action)=|https?:|url\(|@import|\son\w+=|\sstyle=/);
});

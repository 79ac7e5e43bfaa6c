import assert from "node:assert/strict";
import { test } from "node:test";

import { CHILD_PROCESS, inTerminal, whereOf } from "../src/commands/means.ts";
import { readAction, type WaitingCall } from "../src/protocol/frames.ts";
import { rowOf, rowOfCall, rowOfChange, sidesOf, wholeOf, wholeOfCall } from "../src/window/texts.ts";

function call(text: string, holdsFor = ""): WaitingCall {
  return { id: "c1", tool: "run_command", text, reason: "it acts", diff: "", holdsFor };
}

test("a call that is cut says how much, and all of it can be shown", () => {
  const text = `"command": "echo ${"x".repeat(20_000)}; rm -r a"`;
  const row = rowOfCall(call(text));
  assert.ok(row.label.endsWith("x…"));
  const left = `run_command: ${text}`.length - (row.label.length - 1);
  assert.ok(row.detail.startsWith(`${left.toLocaleString("en")} more characters`));
  const whole = wholeOfCall(call(text));
  assert.ok(whole.replaceAll("\n    ", "").endsWith(text));
  assert.ok(whole.split("\n").every((line) => line.length <= 1_004));
});

test("no value looks like another argument", () => {
  const text = '"a": "x\\n\\"b\\": 1, b: 2"\n"c": 3';
  assert.equal(rowOfCall(call(text)).label, `run_command: ${text.replace("\n", ", ")}`);
  const starts = wholeOfCall(call(text)).split("\n\n")[1]?.split("\n");
  assert.deepEqual(starts, ['"a": "x\\n', '    \\"b\\": 1, b: 2"', '"c": 3']);
});

test("a call says what is allowed with it for the run", () => {
  const rule = "later calls of run_command in this run that the same rule asks about";
  assert.ok(rowOfCall(call("")).detail.includes(rule));
  const place = "later calls of run_command in this run to https://example.org:443";
  assert.ok(rowOfCall(call("", "https://example.org:443")).detail.includes(place));
  assert.ok(wholeOfCall(call("", "https://example.org:443")).includes(place));
});

test("what a list draws as an icon or not at all is text", () => {
  const { action } = readAction({ id: 1, action: "run", args: { command: "a $(reboot) \u202eb\u200b" } });
  assert.equal(rowOf(action, "").label, "run: a $\u2060(reboot) \\u{202e}b\\u{200b}");
});

test("a command says where it would run, and with what", () => {
  const { action } = readAction({ id: 1, action: "run", args: { command: "a", cwd: "sub" } });
  const where = whereOf(inTerminal("zsh"), { PATH: "p", HOME: "h" });
  assert.equal(rowOf(action, where).detail, "in sub, by bash in the terminal `zsh` of the editor, with HOME, PATH");
  assert.equal(whereOf(CHILD_PROCESS, {}), "as a child process, with no variables");
});

test("an action of the window is shown whole, by its arguments", () => {
  const args = { path: "a", content: `one\n${"two".repeat(200)}` };
  const whole = wholeOf(readAction({ id: 1, action: "write", args }).action);
  assert.ok(whole.startsWith('write\n\n"path": "a"\n"content": "one\\n\n    two'));
  assert.ok(whole.includes("two".repeat(200)));
  const edits = [{ path: "b", data: Buffer.from("new").toString("base64") }];
  const land = readAction({ id: 2, action: "land", args: { edits } });
  assert.equal(wholeOf(land.action), 'land\n\n"b": "new"');
});

test("a call of an editor's tool says that the tool may ask as well", () => {
  const said = "may ask you once more";
  const window = { ...call(""), tool: "window.fetch_page" };
  assert.ok(rowOfCall(window).detail.includes(said) && wholeOfCall(window).includes(said));
  assert.ok(!rowOfCall(call("")).detail.includes(said));
});

test("a change is shown as its texts, and what is no text as what it is", () => {
  const args = {
    changes: [
      { path: "a\u202e", kind: "moved", moved_from: "b", before: "b25l", after: "dHdv" },
      { path: "new", kind: "created", after: "AAEA" },
      { path: "d", kind: "deleted", note: "too large to show: 9 bytes" },
    ],
  };
  const { action } = readAction({ id: 1, action: "review", args });
  assert.equal(action.kind, "review");
  const [moved, made, gone] = action.changes;
  assert.ok(moved !== undefined && made !== undefined && gone !== undefined);
  assert.deepEqual(rowOfChange(moved), { label: "a\\u{202e}", detail: "moved from b" });
  assert.deepEqual(sidesOf(moved), ["one", "two"]);
  const [before, after] = sidesOf(made);
  assert.equal(before, "");
  assert.match(after, /^\(no text: 3 bytes, SHA-256 [0-9a-f]{64}\)/);
  assert.deepEqual(sidesOf(gone), Array(2).fill("(too large to show: 9 bytes)\n"));
});

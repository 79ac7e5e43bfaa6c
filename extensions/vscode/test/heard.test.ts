import assert from "node:assert/strict";
import { test } from "node:test";

import { Output } from "../src/commands/output.ts";
import { Heard, marksOf } from "../src/commands/shell/heard.ts";

const { begin, end } = marksOf("n1");
const PROMPT = "\x1b]633;A\x07$ \x1b]633;B\x07";

function heard(...chunks: string[]): { text: string; foreign: boolean } {
  const output = new Output(undefined);
  const made = new Heard("n1", output);
  for (const each of chunks) made.add(each);
  return { text: output.text(), foreign: made.foreign };
}

/** However the terminal cuts it. */
function eachWay(whole: string, text: string, foreign = false): void {
  assert.deepEqual(heard(whole), { text, foreign });
  assert.deepEqual(heard(...(whole.match(/./gsu) ?? [])), { text, foreign });
  for (let cut = 1; cut < whole.length; cut += 7) {
    assert.deepEqual(heard(whole.slice(0, cut), whole.slice(cut)), { text, foreign });
  }
}

test("the output is what stands between the marks, as it was printed", () => {
  eachWay(`\x1b]633;C\x07$ x\r\n${begin}one\r\ntwo ä€😀\r\n${end}\x1b]633;D;0\x07${PROMPT}`, "one\ntwo ä€😀\n");
  eachWay(`${begin}no end${end}${PROMPT}`, "no end");
  eachWay(`${begin}a\r\r\nb\rc\r${end}`, "a\r\nb\rc\r");
  eachWay(`${begin}${end}`, "");
});

test("sequences for a terminal are no text", () => {
  const coloured = "\x1b[1;31mred\x1b[0m \x1b]0;title\x07\x1b]8;;http://a\x1b\\link\x1b(B\x1bPq#0\x1b\\ \x9b1mx\x1b7";
  eachWay(`${begin}${coloured}${end}`, "red link x");
  eachWay(`${begin}a\x1b]0;never ended\x1b[1mb${end}`, "ab");
  eachWay(`${begin}a\x1b\nb${end}`, "a\nb");
});

test("what a command says of the terminal is not believed, and told", () => {
  eachWay(`${begin}a\x1b]633;D;0\x07b${end}`, "ab", true);
  eachWay(`${begin}a\x1b]133;D;0\x1b\\b\x9d633;A\x9c${end}`, "ab", true);
  eachWay(`${begin}a${marksOf("n2").end}b${end}`, "ab");
  eachWay(`\x1b]633;D;0\x07${begin}a${end}\x1b]633;D;1\x07`, "a");
});

test("a sequence without an end does not hold all that comes", async () => {
  const output = new Output(undefined);
  const made = new Heard("n1", output);
  made.add(begin);
  for (let part = 0; part < 20; part += 1) made.add((part === 0 ? "\x1b]0;" : "") + "x".repeat(100_000));
  made.add(end);
  await made.complete;
  assert.ok(output.text().endsWith("x"));
});

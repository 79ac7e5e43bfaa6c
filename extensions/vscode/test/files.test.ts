import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { environment, without } from "../src/commands/environment.ts";
import { inserted, replaced, snippet, viewed, windowOf, withLines } from "../src/files/editing.ts";
import { placeOf } from "../src/files/paths.ts";
import { decodedText, encoded, survivesEditor } from "../src/files/text.ts";
import { ActionError } from "../src/protocol/frames.ts";

function refused(act: () => unknown, said: string): void {
  assert.throws(act, (error) => error instanceof ActionError && error.message.includes(said));
}

test("text comes back as the same bytes, in each encoding", () => {
  const files = [
    Buffer.from("a\r\nä\n"),
    Buffer.from([0xef, 0xbb, 0xbf, 0x61]),
    Buffer.from([0xff, 0xfe, 0x61, 0x00]),
    Buffer.from([0xfe, 0xff, 0x00, 0x61]),
    Buffer.from([0x61, 0xe9]),
    Buffer.from([]),
  ];
  for (const data of files) {
    const text = decodedText(data);
    assert.notEqual(text, null);
    if (text !== null) assert.deepEqual(Buffer.from(encoded(text.text, text, "f")), data);
  }
  assert.equal(decodedText(Buffer.from([1, 0, 2])), null);
});

test("the editor writes only what it gives back to the byte", () => {
  const survives = (text: string): boolean => {
    const found = decodedText(Buffer.from(text));
    return found !== null && survivesEditor(found);
  };
  assert.ok(survives("a\nb\n") && survives("a\r\nb") && survives(""));
  assert.ok(!survives("a\r\nb\n") && !survives("a\rb\n"));
  const latin = decodedText(Buffer.from([0xe9]));
  assert.ok(latin !== null && !survivesEditor(latin));
});

test("an edit follows the rules of OpenHands' editor", () => {
  assert.equal(replaced("one\ntwo\n", "two", "2", "f"), "one\n2\n");
  assert.equal(replaced("one $1", "one", "$&", "f"), "$& $1");
  assert.equal(replaced("x = 1\n", "  x = 1 ", " x = 2 ", "f"), "x = 2\n");
  assert.equal(replaced("a\r\nb\r\n", "a\nb", "c", "f"), "c\r\n");
  refused(() => replaced("a\na\n", "a", "b", "f"), "2 times in 'f', in lines 1, 2");
  refused(() => replaced("a", "b", "c", "f"), "is not in");
  refused(() => replaced("a", "a", "a", "f"), "the same");
  refused(() => replaced("a", "", "a", "f"), "empty");
  assert.equal(inserted("a\nb", 2, "c", "f"), "a\nb\nc\n");
  assert.equal(inserted("a\n", 0, "x\ny", "f"), "x\ny\na\n");
  refused(() => inserted("a\n", 2, "x", "f"), "0 to 1, not 2");
  assert.equal(withLines("1\n2\n3\n", "x\n", 1, 2), "1\nx\n3\n");
  assert.equal(windowOf("1\n2\n3\n", 1, -1, null, "f"), "2\n3\n");
  assert.equal(windowOf("1\n2\n3\n", 0, -1, [1, 2], "f"), "1\n2\n");
  refused(() => windowOf("1\n", 0, -1, [2, 2], "f"), "view_range");
  assert.equal(viewed("a\r\nb", null, "f"), "     1\ta\n     2\tb");
  assert.equal(snippet("a\nb\n", "a\nB\n"), "     1\ta\n     2\tB");
});

test("a path leads where the disk says, and never out of the folder", async () => {
  const base = await mkdtemp(join(tmpdir(), "lineshaft-"));
  try {
    const root = join(base, "ws");
    await mkdir(join(root, "sub"), { recursive: true });
    await mkdir(join(base, "ws-evil"));
    await writeFile(join(base, "secret"), "x");
    await symlink(base, join(root, "up"));
    await symlink(join(base, "secret"), join(root, "out"));
    await symlink(join(base, "not-there"), join(root, "dangling"));
    await symlink(join(root, "sub"), join(root, "in"));
    assert.equal((await placeOf(root, "in/new.txt")).path, "sub/new.txt");
    assert.equal((await placeOf(root, join(root, "a"))).path, "a");
    assert.equal((await placeOf(root, ".")).path, ".");
    const out = ["../x", "/", "/etc/passwd", "a/../../x", "up/x", "out", "dangling", "a\0b",
      join(base, "ws-evil", "x"), join(root, "..", "secret")];
    for (const path of out) {
      await assert.rejects(placeOf(root, path), { code: "E_SANDBOX_VIOLATION" }, path);
    }
  } finally {
    await rm(base, { recursive: true });
  }
});

test("a command gets no secret but by its name in full", () => {
  const all = { PATH: "p", LC_ALL: "c", API_KEY: "k", LC_TOKEN: "t", OTHER: "o" };
  assert.deepEqual(environment(all, [], "linux"), { PATH: "p", LC_ALL: "c" });
  assert.deepEqual(environment(all, ["API_KEY"], "linux"), { PATH: "p", LC_ALL: "c", API_KEY: "k" });
  assert.deepEqual(without({ PATH: "p" }, ["PATH", "BASH_ENV"]), { PATH: "p", BASH_ENV: null });
});

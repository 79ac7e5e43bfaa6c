import "./stub/editor.ts";

import assert from "node:assert/strict";
import {
  chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync, symlinkSync, writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, mock, test } from "node:test";

import type { UnsavedChanges } from "../src/files/unsaved.ts";
import type { Json } from "../src/protocol/frames.ts";
import { EndOfLine, state, type TextDocument, Uri, workspace } from "./stub/vscode.ts";

const { Buffers } = await import("../src/files/buffers.ts");
const { Diagnostics } = await import("../src/files/diagnostics.ts");
const { Documents } = await import("../src/files/documents.ts");
const { Files } = await import("../src/files/files.ts");
const { Landing } = await import("../src/files/landing.ts");
const { hashOf } = await import("../src/files/text.ts");

const SIGNAL = new AbortController().signal;
const NOTHING = (): void => undefined;

/** A folder that the window has by a symlink, `link`; its files lie in `root`. */
let base = "";
let root = "";
let link = "";
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "lineshaft-")));
  root = join(base, "real");
  link = join(base, "link");
  mkdirSync(root);
  symlinkSync(root, link, "dir");
  state.documents = [];
  state.diagnostics = [];
  state.folder = link;
  state.eol = EndOfLine.LF;
  state.edited = null;
});
afterEach(() => { rmSync(base, { recursive: true }); });

async function typed(path: string, text: string): Promise<TextDocument> {
  const document = await workspace.openTextDocument(Uri.file(path));
  document.type(text);
  return document;
}

function onDisk(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

async function read(files: InstanceType<typeof Files>, path: string): Promise<string> {
  return (await files.read({ kind: "read", path, start: 0, end: -1, viewRange: null })).content;
}

async function land(path: string, before: string, after: string): Promise<void> {
  const unsaved = { mayBeSaved: () => Promise.resolve() } as unknown as UnsavedChanges;
  const edit = { path, before: hashOf(Buffer.from(before)), after: Buffer.from(after) };
  await new Landing(root, unsaved).land({ kind: "land", edits: [edit] }, SIGNAL, NOTHING);
}

test("what is not saved in a folder that is opened by a symlink is read, and not written over unread", async () => {
  writeFileSync(join(root, "a.py"), "old\n");
  const document = await typed(join(link, "a.py"), "typed\n");
  const files = new Files(root, new Documents());
  const write = { kind: "write", path: "a.py", content: "written\n", start: 0, end: -1 } as const;
  await assert.rejects(files.write(write), { code: "E_STALE", message: /not saved and were not read/ });
  assert.deepEqual([onDisk("a.py"), document.getText()], ["old\n", "typed\n"]);
  assert.equal(await read(files, "a.py"), "typed\n");
  await files.write(write);
  assert.deepEqual([onDisk("a.py"), document.getText(), document.isDirty], ["written\n", "written\n", false]);
  assert.equal(state.documents.length, 1);
});

test("a file that is open by another name is the same file", async () => {
  writeFileSync(join(root, "a.py"), "old\n");
  symlinkSync("a.py", join(root, "b.py"));
  await typed(join(root, "b.py"), "typed\n");
  const files = new Files(root, new Documents());
  assert.equal(await read(files, "a.py"), "typed\n");
});

test("a file with unsaved changes by two paths is not written, since nobody knows which count", async () => {
  writeFileSync(join(root, "a.py"), "old\n");
  await typed(join(root, "a.py"), "one\n");
  await typed(join(link, "a.py"), "two\n");
  await assert.rejects(read(new Files(root, new Documents()), "a.py"), { code: "E_STALE", message: /several paths/ });
  await assert.rejects(land("a.py", "one\n", "landed\n"), { code: "E_STALE", message: /several paths/ });
  assert.equal(onDisk("a.py"), "old\n");
});

test("a landing edits the document that the person has open", async () => {
  writeFileSync(join(root, "a.py"), "old\n");
  const document = await typed(join(link, "a.py"), "typed\n");
  await land("a.py", "typed\n", "typed\nlanded\n");
  assert.deepEqual([onDisk("a.py"), document.getText()], ["typed\nlanded\n", "typed\nlanded\n"]);
  writeFileSync(join(root, "new.py"), "old\n");
  await land("new.py", "old\n", "landed\n");
  assert.deepEqual(state.documents.map((each) => each.uri.fsPath), [join(link, "a.py"), join(link, "new.py")]);
});

test("a document whose file is gone is in the folder, too", async () => {
  writeFileSync(join(root, "a.py"), "old\n");
  await typed(join(link, "a.py"), "typed\n");
  rmSync(join(root, "a.py"));
  assert.deepEqual((await new Buffers(root).dirty()).map((each) => each.path), ["a.py"]);
});

test("a file without a line break gets those of the text, whatever the editor's setting is", async () => {
  state.eol = EndOfLine.CRLF;
  for (const name of ["landed.py", "written.py"]) writeFileSync(join(root, name), "");
  await land("landed.py", "", "a = 1\nb = 2\n");
  await new Files(root, new Documents()).write({ kind: "write", path: "written.py", content: "a\nb\n", start: 0, end: -1 });
  assert.deepEqual([onDisk("landed.py"), onDisk("written.py")], ["a = 1\nb = 2\n", "a\nb\n"]);
  assert.deepEqual(state.documents.map((each) => each.isDirty), [false, false]);
});

test("an edit of which the editor makes another text is taken back", async () => {
  writeFileSync(join(root, "a.py"), "");
  state.edited = (document) => {
    document.eol = EndOfLine.CRLF;
    document.text = document.text.replaceAll("\n", "\r\n");
  };
  await assert.rejects(land("a.py", "", "a\nb\n"), { code: "E_STALE", message: /'a\.py' has another text .*; nothing landed$/ });
  assert.deepEqual([state.documents[0]?.getText(), onDisk("a.py")], ["", ""]);
});

test("what a window showed before it was loaded again is not taken for what it shows now", async () => {
  writeFileSync(join(root, "a.py"), "saved\n");
  const shown = async (text: string, known: ReadonlyMap<string, string>): Promise<Json> => {
    state.documents = [];
    await typed(join(root, "a.py"), text);
    const told = await new Buffers(root).list({ kind: "buffers", known, nonce: null });
    const [buffer] = told.extras["buffers"] as Json[];
    assert.ok(buffer !== undefined);
    return buffer;
  };
  const before = await shown("typed first\n", new Map());
  const now = await shown("typed later\n", new Map([["a.py", String(before["version"])]]));
  assert.deepEqual([now["state"], now["data"]], ["sent", Buffer.from("typed later\n").toString("base64")]);
});

test("what a person types while a change is made stays, and is named", async () => {
  writeFileSync(join(root, "a.py"), "");
  state.edited = (document) => { document.type(`${document.text}typed\n`); };
  await assert.rejects(land("a.py", "", "a\n"), { code: "E_STALE", message: /nothing landed; these stay changed: a\.py$/ });
  assert.deepEqual([state.documents[0]?.getText(), onDisk("a.py")], ["a\ntyped\n", ""]);
});

test("a file that is written to the disk keeps its mode, whatever new files have", async () => {
  const file = join(root, "shared.txt");
  writeFileSync(file, "mixed\r\nends\n");
  chmodSync(file, 0o664);
  const before = process.umask(0o077);
  try {
    await land("shared.txt", "mixed\r\nends\n", "other\r\nends\n");
  } finally {
    process.umask(before);
  }
  assert.deepEqual([onDisk("shared.txt"), statSync(file).mode & 0o777], ["other\r\nends\n", 0o664]);
});

test("errors of a folder that is opened by a symlink are told", async () => {
  writeFileSync(join(root, "a.py"), "x\n");
  writeFileSync(join(root, "b.py"), "x\n");
  const position = { line: 0, character: 0 };
  const error = { severity: 0, message: "wrong", range: { start: position, end: position } };
  for (const name of ["a.py", "b.py"]) state.diagnostics.push([Uri.file(join(link, name)), [error]]);
  const diagnostics = new Diagnostics();
  const told = async (given: string[] | null): Promise<string> => {
    mock.timers.enable({ apis: ["setTimeout"] });
    try {
      const asked = diagnostics.get(root, { kind: "get_errors", paths: given }, SIGNAL);
      const ticking = setInterval(() => { mock.timers.tick(60_000); }, 1);
      return (await asked.finally(() => { clearInterval(ticking); })).content;
    } finally {
      mock.timers.reset();
    }
  };
  assert.equal(await told(null), "a.py:1:1: error: wrong\nb.py:1:1: error: wrong");
  assert.equal(await told(["b.py"]), "b.py:1:1: error: wrong");
  diagnostics.dispose();
});

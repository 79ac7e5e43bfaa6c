import assert from "node:assert/strict";
import { test } from "node:test";

import type { DirtyFile } from "../src/files/buffers.ts";
import { UnsavedChanges, type UnsavedDecision, type UnsavedQuestion } from "../src/files/unsaved.ts";
import { questionOf } from "../src/window/texts.ts";

const SIGNAL = new AbortController().signal;

/** Files of a window, which a save makes clean, and a person who answers in order. */
class Desk {
  readonly files = new Map<string, DirtyFile>();
  readonly asked: UnsavedQuestion[] = [];
  readonly answers: UnsavedDecision[];
  saves = true;
  reviews = false;

  constructor(answers: UnsavedDecision[], ...paths: string[]) {
    this.answers = answers;
    for (const path of paths) this.type(path, "1.1");
  }

  type(path: string, version: string): void {
    const save = (): Promise<boolean> => {
      if (this.saves) this.files.delete(path);
      return Promise.resolve(this.saves);
    };
    const document = (this.files.get(path)?.document ?? { save }) as DirtyFile["document"];
    this.files.set(path, { document, path, real: `/ws/${path}`, version });
  }

  changes(): UnsavedChanges {
    const buffers = { dirty: () => Promise.resolve([...this.files.values()]) };
    return new UnsavedChanges(buffers, (question) => {
      this.asked.push(question);
      const answer = this.answers.shift();
      return answer === undefined ? Promise.reject(new Error("nobody answers")) : Promise.resolve(answer);
    }, () => this.reviews);
  }
}

async function prepared(changes: UnsavedChanges, more: object): Promise<unknown> {
  const action = { kind: "prepare", paths: [], process: "", known: new Map(), ...more } as const;
  return (await changes.prepare(action, SIGNAL, () => undefined)).extras;
}

test("where nothing is in the way nobody is asked", async () => {
  const desk = new Desk([], "other.txt");
  assert.deepEqual(await prepared(desk.changes(), { paths: ["a.txt"] }), { saved: [], left: {}, review: false });
  assert.deepEqual(desk.asked, []);
  desk.reviews = true;
  assert.deepEqual(await prepared(desk.changes(), {}), { saved: [], left: {}, review: true });
});

test("a process is started after a save, without one, or not at all", async () => {
  const saved = new Desk(["save"], "a.txt", "b.txt");
  assert.deepEqual(await prepared(saved.changes(), { process: "pytest" }), {
    saved: ["a.txt", "b.txt"], left: {}, review: false,
  });
  assert.deepEqual(saved.asked, [{ paths: ["a.txt", "b.txt"], process: "pytest" }]);
  const left = new Desk(["leave"], "a.txt");
  assert.deepEqual(await prepared(left.changes(), { process: "pytest" }), {
    saved: [], left: { "a.txt": "1.1" }, review: false,
  });
  assert.equal(left.files.size, 1);
  const no = new Desk(["refuse"], "a.txt", "b.txt");
  await assert.rejects(prepared(no.changes(), { process: "pytest" }), {
    code: "E_DENIED",
    message: "the process was not started: the person refused, changes of theirs are not saved: 'a.txt', 'b.txt'",
  });
  assert.equal(no.files.size, 2);
});

test("what was left unsaved is asked about again once it is another text", async () => {
  const desk = new Desk(["save"], "a.txt");
  const changes = desk.changes();
  const known = new Map([["a.txt", "1.1"], ["gone.txt", "2.1"]]);
  assert.deepEqual(await prepared(changes, { process: "ls", known }), { saved: [], left: { "a.txt": "1.1" }, review: false });
  desk.type("a.txt", "1.2");
  assert.deepEqual(await prepared(changes, { process: "ls", known }), { saved: ["a.txt"], left: {}, review: false });
});

test("what becomes unsaved while the person is asked is asked about, too", async () => {
  const desk = new Desk(["leave", "refuse"], "a.txt");
  const changes = desk.changes();
  const answers = desk.answers.shift.bind(desk.answers);
  desk.answers.shift = (): UnsavedDecision | undefined => {
    desk.type("late.txt", "2.1");
    return answers();
  };
  await assert.rejects(prepared(changes, { process: "ls" }), /late\.txt/);
  assert.deepEqual(desk.asked.map((each) => each.paths), [["a.txt"], ["late.txt"]]);
});

test("a landing asks for the files that it changes, a process for the others", async () => {
  const desk = new Desk(["leave", "save"], "a.txt", "b.txt");
  const changes = desk.changes();
  await prepared(changes, { paths: ["a.txt"], process: "ls" });
  assert.deepEqual(desk.asked, [{ paths: ["b.txt"], process: "ls" }, { paths: ["a.txt"], process: "" }]);
  assert.equal(desk.files.size, 2); // the landing itself saves
  await changes.mayBeSaved((each) => each.path === "a.txt", SIGNAL, () => undefined);
  assert.equal(desk.asked.length, 2);
  desk.type("a.txt", "1.2");
  desk.answers.push("refuse");
  await assert.rejects(
    changes.mayBeSaved((each) => each.path === "a.txt", SIGNAL, () => undefined),
    { code: "E_DENIED", message: /nothing landed: .*'a\.txt'/ },
  );
});

test("a file that cannot be saved keeps the process from starting", async () => {
  const desk = new Desk(["save"], "a.txt");
  desk.saves = false;
  await assert.rejects(prepared(desk.changes(), { process: "ls" }), { code: "E_STALE", message: /'a\.txt'/ });
});

test("processes of the window remember what was left for the one before", async () => {
  const desk = new Desk(["leave"], "a.txt");
  const changes = desk.changes();
  await changes.beforeProcess("run: ls", SIGNAL, () => undefined);
  await changes.beforeProcess("run: ls", SIGNAL, () => undefined);
  assert.equal(desk.asked.length, 1);
});

test("the question names the files, and a key alone refuses", () => {
  const process = questionOf({ paths: ["a.txt", "$(x)\u202e"], process: "pytest\n-q" });
  assert.deepEqual(process.choices.map((each) => each.value), ["refuse", "leave", "save"]);
  assert.match(process.title, /^Lineshaft: pytest ⏎ -q runs over 2 files that you have not saved/);
  assert.match(process.choices[2]?.detail ?? "", /a\.txt, \$\u2060\(x\)\\u\{202e\}/);
  assert.match(process.whole, /"a\.txt"/);
  const landing = questionOf({ paths: ["a.txt"], process: "" });
  assert.deepEqual(landing.choices.map((each) => each.value), ["refuse", "save"]);
});

import assert from "node:assert/strict";
import { test } from "node:test";

import { type Dialog, Turns } from "../src/window/turns.ts";

class Shown implements Dialog {
  waiting = 0;
  isOpen = false;
  times = 0;

  show(): void {
    this.isOpen = true;
    this.times += 1;
  }
}

test("a dialog is not shown over another, and comes after it", () => {
  const [first, second] = [new Shown(), new Shown()];
  const turns = new Turns(() => undefined);
  turns.add(first);
  turns.add(second);
  first.waiting = 1;
  turns.ask(first);
  second.waiting = 2;
  turns.ask(second);
  assert.deepEqual([first.isOpen, second.isOpen, turns.waiting], [true, false, 3]);
  Object.assign(first, { waiting: 0, isOpen: false });
  turns.next();
  assert.ok(second.isOpen);
});

test("what Escape has left comes again on request, and what is open stays", () => {
  const dialog = new Shown();
  const turns = new Turns(() => undefined);
  turns.add(dialog);
  turns.next();
  assert.equal(dialog.times, 0);
  dialog.waiting = 1;
  turns.ask(dialog);
  dialog.isOpen = false;
  turns.next();
  assert.equal(dialog.times, 2);
});

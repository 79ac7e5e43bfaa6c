import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { chosenPython } from "../src/python/carried.ts";
import { endAllStarted, spawnLineshaft, startLineshaft } from "../src/python/lineshaft.ts";

test("no file of the folder that is open runs as a module of Lineshaft's", async () => {
  const folder = mkdtempSync(join(tmpdir(), "lineshaft-"));
  const before = process.cwd();
  try {
    const ran = join(folder, "ran");
    for (const name of ["lineshaft", "anyio", "click"]) {
      writeFileSync(join(folder, `${name}.py`), `open(${JSON.stringify(ran)}, "w")\n`);
    }
    process.chdir(folder);
    const child = startLineshaft(chosenPython("", folder), ["--version"]);
    assert.deepEqual(child.spawnargs.slice(1, 4), ["-P", "-m", "lineshaft"]);
    child.stdin.end();
    await new Promise((done, failed) => {
      child.once("error", failed);
      child.once("close", done);
    });
    assert.ok(!existsSync(ran));
  } finally {
    process.chdir(before);
    rmSync(folder, { recursive: true });
  }
});

test("what stops everything ends each run, also one whose words are those of a host, and no host", async () => {
  // A Python that does nothing but wait.
  const waits = { program: process.execPath, flags: ["-e", "setTimeout(() => {}, 600000)", "--"] };
  const host = spawnLineshaft(waits, ["editor", "/folder"]);
  const run = startLineshaft(waits, ["run", "-", "--origin", "editor"]);
  const ended = new Promise((done) => { run.once("close", (_, signal) => { done(signal); }); });
  try {
    endAllStarted();
    assert.equal(await ended, "SIGTERM");
    assert.equal(host.exitCode, null);
    assert.equal(host.signalCode, null);
  } finally {
    host.kill("SIGKILL");
    run.kill("SIGKILL");
  }
});

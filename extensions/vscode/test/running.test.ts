import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";

import { Commands } from "../src/commands/commands.ts";
import type { Json, Observation } from "../src/protocol/frames.ts";
import { lives, until } from "./stub/processes.ts";

const NOTHING = (): void => undefined;

let folder = "";
beforeEach(async () => { folder = await realpath(await mkdtemp(join(tmpdir(), "lineshaft-"))); });
afterEach(async () => { await rm(folder, { recursive: true }); });

function run(command: string, seconds: number, signal = new AbortController().signal): Promise<Observation> {
  const settings = { python: "python3", seconds: 60, passEnvironment: [] };
  const commands = new Commands(folder, () => settings, () => ({ write: NOTHING, close: NOTHING }));
  return commands.run({ kind: "run", command, isInput: false, cwd: null, hidden: false }, seconds, signal);
}

test("a time of months is no time that is over", async () => {
  const done = await run("sleep 0.3; echo over", 10_000_000);
  assert.equal(done.content, "over\n");
});

test("an output that is long when it is written down is cut, and the exit code is told", async () => {
  const done = await run("head -c 9000000 /dev/zero; exit 3", 60);
  assert.equal((done.extras["metadata"] as Json)["exit_code"], 3);
  assert.ok(JSON.stringify(done).length < 16_000_000);
  assert.match(done.content, /\n\[\.\.\. 6750000 bytes left out \.\.\.\]\n$/);
});

const SLEEPS = `sh -c 'echo $$ > new; mv new pid; exec sleep 600'`;
for (const [name, command] of [
  ["without its variables", `env -i ${SLEEPS}; true`],
  ["without its variables, in a session of its own", `env -i setsid ${SLEEPS}; true`],
] as const) {
  test(`a stop ends what a command started ${name}`, { skip: process.platform !== "linux" }, async () => {
    const stop = new AbortController();
    const running = run(command, 60, stop.signal);
    await until(() => existsSync(join(folder, "pid")));
    stop.abort();
    await running;
    const pid = Number(await readFile(join(folder, "pid"), "utf8"));
    await until(() => !lives(pid));
  });
}

import { existsSync } from "node:fs";
import { mkdtemp, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";

import { Commands } from "../src/commands/commands.ts";
import type { Observation } from "../src/protocol/frames.ts";

const NOTHING = (): void => undefined;

let folder = "";
beforeEach(async () => { folder = await realpath(await mkdtemp(join(tmpdir(), "lineshaft-"))); });
afterEach(async () => { await rm(folder, { recursive: true }); });

function run(command: string, seconds: number, signal = new AbortController().signal): Promise<Observation> {
  const settings = { python: "python3", seconds: 60, passEnvironment: [] };
  const commands = new Commands(folder, () => settings, () => ({ write: NOTHING, close: NOTHING }));
  return commands.run({ kind: "run", command, isInput: false, cwd: null, hidden: false }, seconds, signal);
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((done) => setTimeout(done, 10));
}

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

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

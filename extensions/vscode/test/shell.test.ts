import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, afterEach, beforeEach, test } from "node:test";
import { fileURLToPath } from "node:url";

import { Commands } from "../src/commands/commands.ts";
import type { Ended } from "../src/commands/running.ts";
import { type Execution, type OpenTerminal, ShellCommands, type ShellStart } from "../src/commands/shell/command.ts";
import { Orders } from "../src/commands/shell/orders.ts";
import { Unavailable } from "../src/commands/shell/unavailable.ts";
import type { Json, RunAction } from "../src/protocol/frames.ts";
import { lives, until } from "./stub/processes.ts";

const RUNNER = fileURLToPath(new URL("../src/commands/shell/runner.ts", import.meta.url));
const orders = new Orders([process.execPath, "--no-warnings", RUNNER]);
after(() => { orders.dispose(); });

/** A terminal whose shell starts each line, and which believes what programs say, as VS Code does. */
class Believing implements OpenTerminal {
  readonly closed: Promise<void>;
  readonly lines: string[] = [];
  kept: boolean | undefined;
  starts = true;
  #close: () => void = () => undefined;
  #child: ChildProcess | undefined;

  constructor() {
    this.closed = new Promise((done) => { this.#close = done; });
  }

  execute(line: string): Execution {
    this.lines.push(line);
    if (!this.starts) return { text: never(), ended: new Promise(() => undefined) };
    const child = spawn("sh", ["-c", line], { stdio: ["ignore", "pipe", "inherit"], env: { PATH: process.env["PATH"] } });
    this.#child = child;
    child.stdout.setEncoding("utf8");
    let over: () => void = () => undefined;
    const ended = new Promise<void>((done) => { over = done; });
    child.once("close", () => { over(); });
    async function* text(): AsyncGenerator<string> {
      // What goes on printing after a false end prints into a terminal that is there.
      for await (const chunk of child.stdout.iterator({ destroyOnReturn: false }) as AsyncIterable<string>) {
        const shown = chunk.replaceAll("\n", "\r\n");
        const said = shown.indexOf("\x1b]633;D");
        yield said < 0 ? shown : shown.slice(0, said);
        if (said >= 0) break;
      }
      over();
      child.stdout.resume();
    }
    return { text: text(), ended };
  }

  release(keep: boolean): void {
    this.kept = keep;
  }

  /** A person closes it. */
  close(): void {
    this.#child?.kill("SIGHUP");
    this.#close();
  }
}

async function* never(): AsyncGenerator<string> {
  await new Promise(() => undefined);
  yield "";
}

let folder = "";
let stop = new AbortController();
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "lineshaft-"));
  stop = new AbortController();
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

function start(command: string, more: Partial<ShellStart> = {}): ShellStart {
  const env = { PATH: process.env["PATH"] };
  return { command, cwd: folder, env, seconds: 60, signal: stop.signal, hidden: true, ...more };
}

function commands(terminal: OpenTerminal, begin = 30_000): ShellCommands {
  return new ShellCommands(orders, () => Promise.resolve(terminal), { begin, settle: 1_000 });
}

async function run(command: string, more: Partial<ShellStart> = {}): Promise<Ended & { kept: boolean | undefined }> {
  const terminal = new Believing();
  const ended = await (await commands(terminal).begin(start(command, more))).ended;
  return { ...ended, kept: terminal.kept };
}

test("a command has its real exit code and output, and its terminal is used again", async () => {
  const all: [string, number, string][] = [
    ["exit 3", 3, ""],
    ["exit 137", 137, ""],
    ["for i in 1 2; do\n  echo $i\ndone", 0, "1\n2\n"],
    ["cat <<'EOF'\none $HOME\nEOF", 0, "one $HOME\n"],
    ["(echo sub; exit 4)", 4, "sub\n"],
    ["pwd; echo b >&2; printf c", 0, `${folder}\nb\nc`],
    ["seq 1 20000 | tail -1; printf 'ä😀'", 0, "20000\nä😀"],
  ];
  for (const [command, code, output] of all) {
    const { stdout, kept, note, ...ended } = await run(command, { cwd: folder });
    assert.deepEqual([ended.code, ended.signal, note, kept], [code, null, "", true], command);
    if (!command.includes("b >&2")) assert.equal(stdout, output);
  }
});

test("an unterminated quote ends as bash's own error", async () => {
  assert.equal((await run("echo 'x 2>&1")).code, 2);
});

test("what ends by a signal has no exit code", async () => {
  const { code, signal, note } = await run("kill -9 $$");
  assert.deepEqual([code, signal, note], [null, "SIGKILL", ""]);
});

test("where what runs the command is ended, its end is not known and nothing stays", async () => {
  const { code, note, kept } = await run("sleep 600 & echo $! > pid; kill -9 $PPID; sleep 600");
  assert.equal(code, null);
  assert.match(note, /not known/);
  assert.equal(kept, false);
  const pid = Number(await readFile(join(folder, "pid"), "utf8"));
  await until(() => !lives(pid));
});

test("an end that the output claims is not believed, and such a terminal not used again", async () => {
  const { code, stdout, kept, note } = await run("echo a; printf '\\033]633;D;0\\007'; echo b; exit 3");
  assert.deepEqual([code, kept], [3, false]);
  assert.ok(stdout.startsWith("a\n"));
  assert.match(note, /did not give all/);
});

test("a shell that does not begin a command never does it later", async () => {
  const terminal = new Believing();
  terminal.starts = false;
  await assert.rejects(commands(terminal, 50).begin(start("touch ran")), Unavailable);
  assert.equal(terminal.kept, false);
  const [line = ""] = terminal.lines;
  const late = spawn("sh", ["-c", line], { stdio: "ignore" });
  assert.equal(await new Promise((done) => late.once("exit", done)), 1);
  assert.ok(!existsSync(join(folder, "ran")));
});

test("a terminal that fails, or that is closed first, begins nothing", async () => {
  const failing = new Believing();
  failing.execute = () => { throw new Unavailable("it has ended"); };
  await assert.rejects(commands(failing).begin(start("touch ran")), /it has ended/);
  const closing = new Believing();
  closing.starts = false;
  const begun = commands(closing).begin(start("touch ran"));
  await until(() => closing.lines.length === 1);
  closing.close();
  await assert.rejects(begun, Unavailable);
  assert.deepEqual([failing.kept, closing.kept, existsSync(join(folder, "ran"))], [false, false, false]);
});

test("nothing of a window is left", async () => {
  const own = new Orders([process.execPath, "--no-warnings", RUNNER]);
  const { line } = await own.place({ command: "", cwd: folder, env: {}, mark: "m", nonce: "n" });
  const place = dirname(line.split(" ")[1] ?? "");
  assert.ok(existsSync(place));
  own.dispose();
  assert.ok(!existsSync(place));
});

test("the same line runs a command once", async () => {
  const terminal = new Believing();
  const begun = await commands(terminal).begin(start("echo x >> ran"));
  assert.equal((await begun.ended).code, 0);
  const again = spawn("sh", ["-c", terminal.lines[0] ?? ""], { stdio: "ignore" });
  assert.equal(await new Promise((done) => again.once("exit", done)), 1);
  assert.equal(await readFile(join(folder, "ran"), "utf8"), "x\n");
});

test("one that connects beside is told nothing and changes nothing", async () => {
  const terminal = new Believing();
  const begun = await commands(terminal).begin(start("read x; exit 5"));
  const [, program = ""] = (terminal.lines[0] ?? "").split(" ");
  const beside = connect(program.replace(/run$/, "socket"));
  const said: string[] = [];
  beside.on("data", (data) => { said.push(String(data)); });
  beside.write(`{"id": "${(terminal.lines[0] ?? "").split(" ")[2] ?? ""}"}\n{"told": "ended", "code": 0, "signal": null}\n`);
  await new Promise((done) => beside.once("close", done));
  begun.type("x");
  assert.equal((await begun.ended).code, 5);
  assert.deepEqual(said, []);
});

test("a cancel before the command began leaves it undone", async () => {
  const terminal = new Believing();
  terminal.starts = false;
  const begun = commands(terminal).begin(start("touch ran"));
  await until(() => terminal.lines.length === 1);
  stop.abort();
  await assert.rejects(begun, { code: "E_CANCELLED" });
  assert.ok(!existsSync(join(folder, "ran")));
});

test("time that is over, a cancel and a closed terminal end the whole tree", async () => {
  const tree = "setsid sh -c 'echo $$ > pid; exec sleep 600' & sleep 600";
  const grandchild = async (): Promise<number> => {
    await until(() => existsSync(join(folder, "pid")));
    return Number(await readFile(join(folder, "pid"), "utf8"));
  };
  let timed = await run(tree, { seconds: 1 });
  for (let seconds = 2; !existsSync(join(folder, "pid")); seconds *= 2) timed = await run(tree, { seconds });
  assert.deepEqual([timed.code, timed.signal, timed.timedOut, timed.kept], [null, null, true, true]);
  const first = await grandchild();
  await until(() => !lives(first));
  await rm(join(folder, "pid"));

  const cancelled = run(tree);
  const second = await grandchild();
  stop.abort();
  assert.equal((await cancelled).signal, "SIGTERM");
  await until(() => !lives(second));
  await rm(join(folder, "pid"));

  stop = new AbortController();
  const terminal = new Believing();
  const begun = await commands(terminal).begin(start(tree));
  const third = await grandchild();
  terminal.close();
  const closed = await begun.ended;
  assert.deepEqual([closed.code, terminal.kept], [null, false]);
  assert.match(closed.note, /terminal was closed/);
  await until(() => !lives(third));
});

test("input goes to the command, and to no shell once it is over", async () => {
  const terminal = new Believing();
  const begun = await commands(terminal).begin(start("echo ready > ready; read x; echo got $x"));
  await until(() => existsSync(join(folder, "ready")));
  assert.ok(begun.type("bob"));
  assert.equal((await begun.ended).stdout, "got bob\n");
  assert.ok(!begun.type("touch late"));
});

test("a command has the variables that it is given and no others", async () => {
  const { stdout } = await run("env", { env: { PATH: process.env["PATH"], GIVEN: "1" } });
  const names = stdout.split("\n").map((line) => line.split("=")[0]).filter((name) => name !== "");
  const ours = ["GIVEN", "LINESHAFT_PROCESS", "OLDPWD", "PATH", "PWD", "SHLVL", "TERM", "_"];
  assert.deepEqual(names.filter((name) => !ours.includes(name ?? "")), []);
  assert.ok(stdout.includes("GIVEN=1\n"));
});

test("no start file of the person's is read, by which variables would come along", async () => {
  await writeFile(join(folder, ".bashrc"), "export SECRET=1\n");
  const env = { PATH: process.env["PATH"], HOME: folder };
  assert.equal((await run("echo ${SECRET-none}", { env })).stdout, "none\n");
  const home = process.env["HOME"];
  process.env["HOME"] = folder;
  try {
    const side = new Commands(folder, SETTINGS, shown);
    const done = await side.run({ ...ACTION, command: "echo ${SECRET-none}" }, null, stop.signal);
    assert.equal(done.content, "none\n");
  } finally {
    process.env["HOME"] = home;
  }
});

const ACTION: RunAction = { kind: "run", command: "echo x >> ran; exit 3", isInput: false, cwd: null, hidden: false };
const SETTINGS = () => ({ python: "python3", seconds: 60, passEnvironment: [] });
const shown = () => ({ write: () => undefined, close: () => undefined });

function metadata(done: { extras: Json }): Json {
  return done.extras["metadata"] as Json;
}

test("without a terminal that begins it, a command is a child process, and the result says why", async () => {
  const begin = () => () => Promise.reject(new Unavailable("there is none"));
  const waits: boolean[] = [];
  const side = new Commands(folder, SETTINGS, shown, begin);
  const done = await side.run(ACTION, null, stop.signal, (waiting) => { waits.push(waiting); });
  const { exit_code, backend, suffix, where } = metadata(done);
  assert.deepEqual([exit_code, backend, suffix], [3, "pseudoterminal", "[not in a terminal of the editor: there is none]"]);
  assert.match(String(where), /^as a child process, with .*PATH/);
  assert.deepEqual(waits, [true, false]);
  assert.equal(await readFile(join(folder, "ran"), "utf8"), "x\n");
});

test("a command in a terminal is told as one, and its input reaches it", async () => {
  const begin = () => async (given: ShellStart) =>
    ({ command: await commands(new Believing()).begin(given), where: "in the terminal" });
  const side = new Commands(folder, SETTINGS, shown, begin);
  const running = side.run({ ...ACTION, command: "touch ran; read x; echo $x $PAGER" }, null, stop.signal);
  await until(() => existsSync(join(folder, "ran")));
  const sent = await side.run({ ...ACTION, command: "bob", isInput: true }, null, stop.signal);
  assert.equal(metadata(sent)["backend"], "shell_integration");
  const done = await running;
  assert.equal(done.content, "bob cat\n");
  const { exit_code, backend, suffix, where } = metadata(done);
  assert.deepEqual([exit_code, backend, suffix, where], [0, "shell_integration", "", "in the terminal"]);
});

test("a failure that is no missing terminal is not tried once more", async () => {
  const begin = () => () => Promise.reject(new Error("broken"));
  const side = new Commands(folder, SETTINGS, shown, begin);
  await assert.rejects(side.run(ACTION, null, stop.signal), /broken/);
  assert.ok(!existsSync(join(folder, "ran")));
  await writeFile(join(folder, "ran"), "");
});

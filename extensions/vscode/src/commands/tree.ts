/**
 * A process with its whole tree: found by a mark in its environment, by its session, and by parents.
 *
 * One of them alone does not do: `env -i` drops the mark, `setsid` leaves the session, and who has
 * lost its parent has another one.
 */

import { readdir, readFile } from "node:fs/promises";

const MARK = "LINESHAFT_PROCESS";
const GRACE_MS = 2_000;
/** Of looks for what is still there to kill. */
const ROUNDS = 10;

/** The first process of a tree, which leads a session of its own. */
export interface First {
  /** Undefined: it is not known. */
  readonly pid: number | undefined;
  /** Whether it is there: its number is no other's. */
  readonly lives: boolean;
}

/** All that the first process started, and lives. */
export class Tree {
  readonly #entry: string;
  readonly #first: () => First;
  /** When each process began that was found before, also one that belongs nowhere by now. */
  readonly #found = new Map<number, string>();
  #ending: Promise<void> | undefined;

  constructor(mark: string, first: () => First) {
    this.#entry = `${MARK}=${mark}`;
    this.#first = first;
  }

  /** Ends the whole tree: SIGTERM, 2 s, SIGKILL. */
  end(): Promise<void> {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  async #end(): Promise<void> {
    send(await this.#alive(), "SIGTERM");
    const over = Date.now() + GRACE_MS;
    while (Date.now() < over) {
      if ((await this.#alive()).size === 0) return;
      await new Promise((done) => setTimeout(done, 50));
    }
    for (let round = 0; round < ROUNDS; round += 1) {
      const left = await this.#alive();
      if (left.size === 0) return;
      send(left, "SIGKILL"); // what was started since the look is found by the next
      await new Promise((done) => setTimeout(done, 50));
    }
  }

  async #alive(): Promise<Set<number>> {
    const all = await processes(this.#entry);
    const { pid, lives } = this.#first();
    // A number that is another program's by now is no session of ours.
    const session = pid === undefined || (!lives && all.has(pid)) ? -1 : pid;
    const found = new Set<number>();
    for (const [each, { began, marked, session: its }] of all) {
      if (marked || its === session || this.#found.get(each) === began) found.add(each);
    }
    for (const each of found) { // children of those that are added meanwhile, too
      for (const [child, { parent }] of all) if (parent === each) found.add(child);
    }
    for (const each of found) this.#found.set(each, all.get(each)?.began ?? "");
    if (pid !== undefined && lives) found.add(pid); // for systems that show no processes
    return found;
  }
}

/** Returns an environment whose processes a `Tree` of the mark finds. */
export function withMark(env: NodeJS.ProcessEnv, mark: string): NodeJS.ProcessEnv {
  return { ...env, [MARK]: mark };
}

function send(pids: Iterable<number>, signal: NodeJS.Signals): void {
  // Those that began first come first: a shell whose child ends before it tells an exit code.
  for (const pid of [...pids].sort((one, other) => one - other)) {
    try {
      process.kill(pid, signal);
    } catch {
      // it has ended meanwhile
    }
  }
}

interface Process {
  readonly parent: number;
  readonly session: number;
  readonly began: string;
  /** Whether it has an entry in its environment. */
  readonly marked: boolean;
}

/** Returns the processes that live, where the system shows them. */
async function processes(entry: string): Promise<Map<number, Process>> {
  const found = new Map<number, Process>();
  const names = await readdir("/proc").catch(() => []);
  await Promise.all(
    names.filter((name) => /^\d+$/.test(name)).map(async (name) => {
      const text = await readFile(`/proc/${name}/stat`, "latin1").catch(() => "");
      // What stands before is its name, which it chooses.
      const [state = "", parent, , session, ...rest] = text.slice(text.lastIndexOf(")") + 2).split(" ");
      if (["Z", "X", ""].includes(state)) return;
      const environment = await readFile(`/proc/${name}/environ`).catch(() => null);
      const marked = environment?.includes(`${entry}\0`) === true;
      const began = rest[15] ?? "";
      found.set(Number(name), { parent: Number(parent), session: Number(session), began, marked });
    }),
  );
  return found;
}

/**
 * A process with its whole tree: found by a mark in its environment, and by its parents.
 */

import { readdir, readFile } from "node:fs/promises";

const MARK = "LINESHAFT_PROCESS";
const GRACE_MS = 2_000;

/** All that was started with a mark in its environment, and lives. */
export class Tree {
  readonly #entry: string;
  readonly #first: () => number | undefined;
  #ending: Promise<void> | undefined;

  /** `first` gives the first process while it lives, for systems that show no environments. */
  constructor(mark: string, first: () => number | undefined) {
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
    send(await this.#alive(), "SIGKILL");
  }

  async #alive(): Promise<Set<number>> {
    const found = await marked(this.#entry);
    const first = this.#first();
    if (first !== undefined) found.add(first);
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

/** Returns the processes with an entry in their environment, where the system shows it. */
async function marked(entry: string): Promise<Set<number>> {
  const found = new Set<number>();
  const names = await readdir("/proc").catch(() => []);
  await Promise.all(
    names.filter((name) => /^\d+$/.test(name)).map(async (name) => {
      const environment = await readFile(`/proc/${name}/environ`).catch(() => null);
      if (environment?.includes(`${entry}\0`) === true && (await lives(name))) {
        found.add(Number(name));
      }
    }),
  );
  return found;
}

async function lives(name: string): Promise<boolean> {
  const text = await readFile(`/proc/${name}/stat`, "latin1").catch(() => "");
  return !["Z", "X", ""].includes(text.slice(text.lastIndexOf(")") + 2)[0] ?? "");
}

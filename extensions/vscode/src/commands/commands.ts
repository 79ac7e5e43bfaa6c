/**
 * The actions `run` and `run_python`.
 */

import { stat } from "node:fs/promises";

import { placeOf } from "../files/paths.ts";
import {
  ActionError,
  type Observation,
  type RunAction,
  type RunPythonAction,
} from "../protocol/frames.ts";
import { BASH } from "./bash.ts";
import { environment } from "./environment.ts";
import { CHILD_PROCESS, whereOf } from "./means.ts";
import { type Ended, Running, type StartedCommand } from "./running.ts";
import type { ShellStart } from "./shell/command.ts";
import { Unavailable } from "./shell/unavailable.ts";
import type { Shown } from "./terminals.ts";

export interface CommandSettings {
  readonly python: string;
  readonly seconds: number;
  readonly passEnvironment: readonly string[];
}

/** Begins a command in a terminal of the user, and says in which; rejects with `Unavailable`. */
export type BeginInShell = (start: ShellStart) => Promise<{ command: StartedCommand; where: string }>;

export type Show = (
  command: string,
  hidden: boolean,
  listener: { typed: (line: string) => void; ended: () => void },
) => Shown;

type Backend = "pseudoterminal" | "shell_integration";

interface Begun {
  readonly command: StartedCommand;
  readonly backend: Backend;
  readonly where: string;
  /** Why it is not where the person wants commands to be; empty: it is. */
  readonly why: string;
  /** Says in its terminal how it ended. */
  readonly close: (how: string) => void;
}

/** The longest that a timer takes; it ends at once with more. */
const LONGEST_SECONDS = 2_147_483;

/** One pipe for both streams, so that their order is kept. */
const MERGED = `exec ${BASH.join(" ")} "$1" 2>&1`;

export class Commands {
  readonly #root: string;
  readonly #settings: () => CommandSettings;
  readonly #show: Show;
  readonly #shell: () => BeginInShell | null;
  readonly #reading: { readonly command: StartedCommand; readonly backend: Backend }[] = [];

  /** `shell` begins commands in terminals of the user; it gives null where none is wanted. */
  constructor(
    root: string,
    settings: () => CommandSettings,
    show: Show,
    shell: () => BeginInShell | null = () => null,
  ) {
    this.#root = root;
    this.#settings = settings;
    this.#show = show;
    this.#shell = shell;
  }

  /** `open` is told while a terminal of the user comes up, which is no time of the command's. */
  async run(
    action: RunAction,
    seconds: number | null,
    signal: AbortSignal,
    open: (waiting: boolean) => void = () => undefined,
  ): Promise<Observation> {
    if (action.isInput) return this.#type(action.command);
    const folder = await this.#folder(action.cwd ?? ".");
    const time = Math.min(seconds ?? this.#settings().seconds, LONGEST_SECONDS);
    const begun = await this.#begun(action, folder.real, time, signal, open);
    this.#reading.push(begun);
    try {
      const ended = await begun.command.ended;
      const how = howIt(ended, time);
      begun.close(how === "" ? `exit ${ended.code ?? "unknown"}` : how);
      const suffix = [how, begun.why].filter((each) => each !== "").join("; ");
      return {
        observation: "run",
        content: ended.stdout,
        extras: {
          command: action.command,
          metadata: {
            exit_code: ended.code ?? -1,
            pid: ended.pid,
            working_dir: folder.path,
            suffix: suffix === "" ? "" : `[${suffix}]`,
            signal: ended.signal,
            timed_out: ended.timedOut,
            backend: begun.backend,
            where: begun.where,
          },
          hidden: action.hidden,
        },
        success: ended.code === 0,
      };
    } catch (error) {
      begun.close("it could not be started");
      throw startError("bash", error);
    } finally {
      this.#reading.splice(this.#reading.indexOf(begun), 1);
    }
  }

  /** Begins it where the person wants commands to be, else as a child process, and says why. */
  async #begun(
    action: RunAction,
    cwd: string,
    seconds: number,
    signal: AbortSignal,
    open: (waiting: boolean) => void,
  ): Promise<Begun> {
    const inShell = this.#shell();
    if (inShell === null) return this.#asProcess(action, cwd, seconds, signal, "");
    const { command, hidden } = action;
    const env = { PAGER: "cat", GIT_PAGER: "cat", ...this.#environment() };
    open(true);
    try {
      const begun = await inShell({ command, cwd, env, seconds, signal, hidden });
      return { ...begun, backend: "shell_integration", why: "", close: () => undefined };
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      const why = `not in a terminal of the editor: ${error.message}`;
      return this.#asProcess(action, cwd, seconds, signal, why);
    } finally {
      open(false);
    }
  }

  #asProcess(
    action: RunAction,
    cwd: string,
    seconds: number,
    signal: AbortSignal,
    why: string,
  ): Begun {
    const running = this.#start([...BASH, MERGED, "bash", action.command], cwd, {
      seconds,
      signal,
      reads: true,
      shown: (text) => { terminal.write(text); },
    });
    const terminal = this.#show(action.command, action.hidden, {
      typed: (line) => running.type(line),
      ended: () => void running.end(),
    });
    const where = whereOf(CHILD_PROCESS, this.#environment());
    const close = (how: string): void => { terminal.close(how); };
    return { command: running, backend: "pseudoterminal", where, why, close };
  }

  async runPython(
    action: RunPythonAction,
    seconds: number | null,
    signal: AbortSignal,
  ): Promise<Observation> {
    if ((action.code === null) === (action.file === null)) {
      throw new ActionError("E_INVALID_ARGS", "`run_python` takes `code` or `file`, one of them");
    }
    let program = ["-c", action.code ?? ""];
    if (action.file !== null) {
      const place = await placeOf(this.#root, action.file);
      await stat(place.real).catch(() => { throw missing(place.path); });
      program = [place.real];
    }
    const { python, seconds: untimed } = this.#settings();
    const time = Math.min(seconds ?? untimed, LONGEST_SECONDS);
    const argv = [python, "-E", "-s", "-B", "-X", "utf8", ...program, ...action.args] as const;
    const { real } = await placeOf(this.#root, ".");
    const running = this.#start(argv, real, { seconds: time, signal, reads: false });
    const ended = await running.ended.catch((error: unknown) => { throw startError(python, error); });
    if (ended.timedOut) {
      throw new ActionError("PYTHON_TIMEOUT", `the program was ended after its ${time} s`);
    }
    return {
      observation: "run_python",
      content: ended.stdout,
      extras: { stderr: ended.stderr, exit_code: ended.code ?? -1 },
    };
  }

  #start(
    argv: readonly [string, ...string[]],
    cwd: string,
    more: {
      seconds: number;
      signal: AbortSignal;
      reads: boolean;
      shown?: (text: string) => void;
    },
  ): Running {
    return new Running({ argv, cwd, env: this.#environment(), ...more });
  }

  #environment(): NodeJS.ProcessEnv {
    return environment(process.env, this.#settings().passEnvironment);
  }

  #type(text: string): Observation {
    const last = this.#reading.at(-1);
    if (last?.command.type(text) !== true) {
      throw new ActionError("E_PRECONDITION_FAILED", "no command runs that input could go to");
    }
    const metadata = { exit_code: -1, suffix: "[the input was sent]", backend: last.backend };
    return {
      observation: "run",
      content: "",
      extras: { command: text, metadata, hidden: false },
      success: false,
    };
  }

  async #folder(given: string): Promise<{ path: string; real: string }> {
    const place = await placeOf(this.#root, given);
    const found = await stat(place.real).catch(() => { throw missing(place.path); });
    if (!found.isDirectory()) {
      throw new ActionError("E_TOOL_FAILED", `'${place.path}' is not a folder`);
    }
    return place;
  }
}

function howIt(ended: Ended, seconds: number): string {
  const parts: string[] = [];
  if (ended.timedOut) parts.push(`the command was ended after its ${seconds} s`);
  if (ended.signal !== null) parts.push(`the command was ended by ${ended.signal}`);
  if (ended.note !== "") parts.push(ended.note);
  return parts.join("; ");
}

function missing(path: string): ActionError {
  return new ActionError("E_FILE_NOT_FOUND", `there is no file or folder '${path}'`);
}

function startError(program: string, error: unknown): ActionError {
  const said = error instanceof Error ? error.message : String(error);
  return new ActionError("E_TOOL_FAILED", `'${program}' could not be started: ${said}`);
}

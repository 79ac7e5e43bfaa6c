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
import { environment } from "./environment.ts";
import type { Shown } from "./terminals.ts";
import { type Ended, Running } from "./tree.ts";

export interface CommandSettings {
  readonly python: string;
  readonly seconds: number;
  readonly passEnvironment: readonly string[];
}

export type Show = (
  command: string,
  hidden: boolean,
  listener: { typed: (line: string) => void; ended: () => void },
) => Shown;

/** One pipe for both streams, so that their order is kept. */
const MERGED = 'exec bash -c "$1" 2>&1';

export class Commands {
  readonly #root: string;
  readonly #settings: () => CommandSettings;
  readonly #show: Show;
  readonly #reading: Running[] = [];

  constructor(root: string, settings: () => CommandSettings, show: Show) {
    this.#root = root;
    this.#settings = settings;
    this.#show = show;
  }

  async run(action: RunAction, seconds: number | null, signal: AbortSignal): Promise<Observation> {
    if (action.isInput) return this.#type(action.command);
    const folder = await this.#folder(action.cwd ?? ".");
    const time = seconds ?? this.#settings().seconds;
    const running = this.#start(["bash", "-c", MERGED, "bash", action.command], folder.real, {
      seconds: time,
      signal,
      reads: true,
      shown: (text) => { terminal.write(text); },
    });
    const terminal = this.#show(action.command, action.hidden, {
      typed: (line) => running.type(line),
      ended: () => void running.end(),
    });
    this.#reading.push(running);
    try {
      const ended = await running.ended;
      const suffix = how(ended, time);
      terminal.close(suffix === "" ? `exit ${ended.code ?? "unknown"}` : suffix);
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
            backend: "pseudoterminal",
          },
          hidden: action.hidden,
        },
        success: ended.code === 0,
      };
    } catch (error) {
      terminal.close("it could not be started");
      throw startError("bash", error);
    } finally {
      this.#reading.splice(this.#reading.indexOf(running), 1);
    }
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
    const time = seconds ?? untimed;
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
    const env = environment(process.env, this.#settings().passEnvironment);
    return new Running({ argv, cwd, env, ...more });
  }

  #type(text: string): Observation {
    const running = this.#reading.at(-1);
    if (running?.type(text) !== true) {
      throw new ActionError("E_PRECONDITION_FAILED", "no command runs that input could go to");
    }
    const metadata = { exit_code: -1, suffix: "[the input was sent]", backend: "pseudoterminal" };
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

function how(ended: Ended, seconds: number): string {
  if (ended.timedOut) return `the command was ended after its ${seconds} s`;
  return ended.signal === null ? "" : `the command was ended by ${ended.signal}`;
}

function missing(path: string): ActionError {
  return new ActionError("E_FILE_NOT_FOUND", `there is no file or folder '${path}'`);
}

function startError(program: string, error: unknown): ActionError {
  const said = error instanceof Error ? error.message : String(error);
  return new ActionError("E_TOOL_FAILED", `'${program}' could not be started: ${said}`);
}

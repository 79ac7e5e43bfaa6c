/**
 * Terminals of the user in which commands are begun, with VS Code's shell integration.
 *
 * One is used again once its command is over; one in which the person has run something of their
 * own is theirs from then on. Their shell and its environment are the person's choice for this
 * machine: profiles and variables that a folder sets reach no terminal of these.
 */

import { accessSync, constants, readFileSync } from "node:fs";
import { userInfo } from "node:os";
import { delimiter, isAbsolute, join } from "node:path";
import * as vscode from "vscode";

import { ActionError } from "../../protocol/frames.ts";
import { environment, without } from "../environment.ts";
import type { Execution, OpenTerminal } from "./command.ts";
import { type Shell, shellOf, type TerminalSettings } from "./shells.ts";
import { Unavailable } from "./unavailable.ts";

const READY_MS = 15_000;
/** A shell whose integration did not come up is not tried again for so long. */
const FAILED_MS = 300_000;

class ShellTerminal implements OpenTerminal {
  readonly shell: Shell;
  readonly terminal: vscode.Terminal;
  readonly closed: Promise<void>;
  state: "free" | "ours" | "theirs" = "ours";
  readonly #released: (keep: boolean) => void;
  #pid: number | undefined;
  #executing: vscode.TerminalShellExecution | undefined;
  #ended: () => void = () => undefined;
  #close: () => void = () => undefined;

  constructor(shell: Shell, terminal: vscode.Terminal, released: (of: ShellTerminal, keep: boolean) => void) {
    this.shell = shell;
    this.terminal = terminal;
    this.#released = (keep) => { released(this, keep); };
    this.closed = new Promise((done) => { this.#close = done; });
    void terminal.processId.then((pid) => { this.#pid = pid; });
  }

  /**
   * Looks whether it can be used: VS Code tells a little late that a person has begun something.
   * Until then it has children, as it has for a moment where the shell itself makes its prompt.
   */
  isFree(): boolean {
    return this.state === "free" && !hasChildren(this.#pid);
  }

  execute(line: string): Execution {
    const integration = this.terminal.shellIntegration;
    if (integration === undefined) throw new Unavailable("shell integration has ended");
    // With a blank before it, shells that VS Code asks for it leave it out of their history.
    const execution = integration.executeCommand(` ${line}`);
    const text = execution.read(); // what comes before is lost
    this.#executing = execution;
    const ended = new Promise<void>((done) => { this.#ended = done; });
    return { text, ended };
  }

  release(keep: boolean): void {
    this.#executing = undefined;
    this.#released(keep);
  }

  onStarted(execution: vscode.TerminalShellExecution): void {
    if (execution !== this.#executing && this.state === "free") this.state = "theirs";
  }

  onEnded(execution: vscode.TerminalShellExecution): void {
    if (execution === this.#executing) this.#ended();
  }

  onClosed(): void {
    this.#close();
  }
}

export class ShellTerminals implements vscode.Disposable {
  readonly #root: () => string;
  readonly #all = new Set<ShellTerminal>();
  readonly #events: vscode.Disposable[] = [];
  #failed: { readonly path: string; readonly until: number } | undefined;

  /** `root` is the folder that a shell starts in. */
  constructor(root: () => string) {
    this.#root = root;
    const { window } = vscode;
    if (!hasIntegration()) return;
    this.#events.push(
      window.onDidStartTerminalShellExecution((event) => {
        this.#of(event.terminal)?.onStarted(event.execution);
      }),
      window.onDidEndTerminalShellExecution((event) => {
        this.#of(event.terminal)?.onEnded(event.execution);
      }),
      window.onDidCloseTerminal((terminal) => {
        const closed = this.#of(terminal);
        if (closed !== undefined) this.#all.delete(closed);
        closed?.onClosed();
      }),
    );
  }

  /** The shell that a command would be begun by; throws `Unavailable` where none would. */
  shell(): Shell {
    if (!hasIntegration()) throw new Unavailable("this editor has no shell integration");
    const shell = shellOf(settings(), userInfo().shell || "bash", find);
    if (this.#failed?.path === shell.path && Date.now() < this.#failed.until) {
      throw new Unavailable(`shell integration of '${shell.name}' did not come up`);
    }
    return shell;
  }

  async open(hidden: boolean, signal: AbortSignal): Promise<OpenTerminal> {
    const shell = this.shell();
    const free = [...this.#all].find((each) => each.shell.path === shell.path && each.isFree());
    const terminal = free ?? this.#made(shell);
    terminal.state = "ours";
    if (!hidden) terminal.terminal.show(true);
    try {
      await ready(terminal, signal);
    } catch (error) {
      terminal.release(false);
      if (error instanceof Unavailable) this.#failed = { path: shell.path, until: Date.now() + FAILED_MS };
      throw error;
    }
    return terminal;
  }

  #of(terminal: vscode.Terminal): ShellTerminal | undefined {
    return [...this.#all].find((each) => each.terminal === terminal);
  }

  #made(shell: Shell): ShellTerminal {
    const terminal = vscode.window.createTerminal({
      name: `Lineshaft (${shell.name})`,
      iconPath: new vscode.ThemeIcon("gear"),
      shellPath: shell.path,
      shellArgs: [...shell.args],
      cwd: this.#root(),
      // Over a remote link VS Code forgets that it is strict.
      strictEnv: true,
      env: { ...without(environment(process.env, []), foreignNames()), VSCODE_PREVENT_SHELL_HISTORY: "1" },
      isTransient: true,
    });
    const made = new ShellTerminal(shell, terminal, (of, keep) => { this.#released(of, keep); });
    this.#all.add(made);
    return made;
  }

  /** Keeps one terminal that is free. */
  #released(terminal: ShellTerminal, keep: boolean): void {
    if (!this.#all.has(terminal) || terminal.state !== "ours") return;
    const another = [...this.#all].some((each) => each.isFree());
    terminal.state = "free";
    if (keep && !another) return;
    this.#all.delete(terminal);
    terminal.terminal.dispose();
  }

  dispose(): void {
    for (const each of this.#events) each.dispose();
    for (const each of this.#all) if (each.state !== "theirs") each.terminal.dispose();
    this.#all.clear();
  }
}

/** Whether a process has started others, where the system shows it. */
function hasChildren(pid: number | undefined): boolean {
  if (pid === undefined) return false;
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim() !== "";
  } catch {
    return false;
  }
}

function hasIntegration(): boolean {
  const { window } = vscode as { window: Partial<typeof vscode.window> };
  return typeof window.onDidEndTerminalShellExecution === "function";
}

const platform = process.platform === "darwin" ? "osx" : "linux";

/** Names of variables that VS Code gives terminals beside, of its own and by settings of a folder. */
function foreignNames(): string[] {
  const set = vscode.workspace.getConfiguration("terminal.integrated").get<object>(`env.${platform}`);
  return [...Object.keys(process.env), ...Object.keys(set ?? {})];
}

function settings(): TerminalSettings {
  const terminal = vscode.workspace.getConfiguration("terminal.integrated");
  const own = (name: string): unknown => {
    const found = terminal.inspect<unknown>(name);
    return found?.globalValue ?? found?.defaultValue ?? null;
  };
  const profiles = terminal.inspect<object>(`profiles.${platform}`);
  return {
    profile: own(`defaultProfile.${platform}`),
    profiles: { ...profiles?.defaultValue, ...profiles?.globalValue },
    integration: terminal.get("shellIntegration.enabled"),
  };
}

/** Finds a program by an absolute path, or on the editor's own PATH. */
function find(program: string): string | undefined {
  const places = isAbsolute(program)
    ? [program]
    : program.includes("/") ? [] : (process.env["PATH"] ?? "").split(delimiter).filter(isAbsolute).map((each) => join(each, program));
  return places.find((each) => {
    try {
      accessSync(each, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** Waits until shell integration is there. */
async function ready(terminal: ShellTerminal, signal: AbortSignal): Promise<void> {
  if (terminal.terminal.shellIntegration !== undefined) return;
  const waiting: vscode.Disposable[] = [];
  try {
    await new Promise<void>((done, failed) => {
      const timer = setTimeout(() => {
        failed(new Unavailable(`shell integration of '${terminal.shell.name}' did not come up in ${READY_MS / 1_000} s`));
      }, READY_MS);
      const stopped = (): void => { failed(new ActionError("E_CANCELLED", "the command was cancelled before it began")); };
      signal.addEventListener("abort", stopped, { once: true });
      if (signal.aborted) stopped();
      void terminal.closed.then(() => {
        failed(new Unavailable(`the terminal of '${terminal.shell.name}' was closed before it was ready`));
      });
      waiting.push(
        new vscode.Disposable(() => { clearTimeout(timer); }),
        vscode.window.onDidChangeTerminalShellIntegration((event) => {
          if (event.terminal === terminal.terminal) done();
        }),
      );
    });
  } finally {
    for (const each of waiting) each.dispose();
  }
}

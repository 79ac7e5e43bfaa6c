/**
 * Terminals in which commands are shown: what they print, and what a person types to them.
 */

import * as vscode from "vscode";

/** One command in a terminal. */
export interface Shown {
  write(text: string): void;
  /** Says how it ended; the terminal is free for the next one. */
  close(how: string): void;
}

interface Listener {
  readonly typed: (line: string) => void;
  readonly ended: () => void;
}

const CTRL_C = "\x03";

class CommandTerminal implements vscode.Pseudoterminal {
  readonly #written = new vscode.EventEmitter<string>();
  readonly onDidWrite = this.#written.event;
  readonly #closed: () => void;
  #waiting: string[] | null = [];
  #line = "";
  listener: Listener | null = null;

  constructor(closed: () => void) {
    this.#closed = closed;
  }

  open(): void {
    for (const text of this.#waiting ?? []) this.#written.fire(text);
    this.#waiting = null;
  }

  close(): void {
    this.listener?.ended();
    this.#closed();
  }

  handleInput(data: string): void {
    if (data === CTRL_C) {
      this.write("^C\n");
      this.listener?.ended();
      return;
    }
    if (data === "\x7f") {
      if (this.#line !== "") this.write("\b \b");
      this.#line = this.#line.slice(0, -1);
      return;
    }
    for (const each of data.replaceAll("\r\n", "\r")) {
      this.write(each === "\r" ? "\n" : each);
      if (each === "\r") {
        this.listener?.typed(this.#line);
        this.#line = "";
      } else {
        this.#line += each;
      }
    }
  }

  write(text: string): void {
    const shown = text.replace(/\r?\n/g, "\r\n");
    if (this.#waiting === null) this.#written.fire(shown);
    else this.#waiting.push(shown);
  }
}

/** Gives commands terminals: one that is free, else a new one. */
export class Terminals implements vscode.Disposable {
  readonly #all = new Map<CommandTerminal, vscode.Terminal>();

  show(command: string, hidden: boolean, listener: Listener): Shown {
    const pty = [...this.#all.keys()].find((each) => each.listener === null) ?? this.#made();
    pty.listener = listener;
    if (!hidden) this.#all.get(pty)?.show(true);
    pty.write(`\x1b[2m$ ${command}\x1b[0m\n`);
    return {
      write: (text) => { pty.write(text); },
      close: (how) => {
        pty.write(`\x1b[2m[${how}]\x1b[0m\n`);
        pty.listener = null;
        this.#tidy();
      },
    };
  }

  #made(): CommandTerminal {
    const pty: CommandTerminal = new CommandTerminal(() => { this.#all.delete(pty); });
    const icon = new vscode.ThemeIcon("gear");
    this.#all.set(pty, vscode.window.createTerminal({ name: "Lineshaft", pty, iconPath: icon }));
    return pty;
  }

  /** Keeps one terminal that is free. */
  #tidy(): void {
    const free = [...this.#all].filter(([pty]) => pty.listener === null);
    for (const [pty, terminal] of free.slice(1)) {
      this.#all.delete(pty);
      terminal.dispose();
    }
  }

  dispose(): void {
    for (const terminal of this.#all.values()) terminal.dispose();
    this.#all.clear();
  }
}

/**
 * The panel in which a person's message starts a run of an agent.
 *
 * The run is begun by the host of this window, and its events come as all that the host shows.
 */

import { randomBytes } from "node:crypto";

import * as vscode from "vscode";

import type { Json } from "../protocol/frames.ts";
import { readPerson, stateOf } from "./messages.ts";
import { pageOf } from "./page.ts";
import { Transcript } from "./transcript.ts";

export const PANEL = "lineshaft.panel";
/** Events come faster than anybody reads. */
const PAUSE_MS = 50;

/** What the window gives to its panel. */
export interface Line {
  /** The agent that the settings name. */
  agent(): string;
  /** Tells the host what the person says; starts it where none runs, and rejects with why not. */
  say(frame: Json): Promise<void>;
  /** Lets the person choose an agent. */
  choose(): Promise<void>;
}

export class Panel implements vscode.WebviewViewProvider, vscode.Disposable {
  readonly #line: Line;
  readonly #registered: vscode.Disposable[];
  #transcript = new Transcript();
  #view: vscode.WebviewView | undefined;
  #sending = false;
  #stopping = false;
  #taken = false;
  #refused = "";
  #later: NodeJS.Timeout | undefined;

  constructor(line: Line) {
    this.#line = line;
    this.#registered = [
      vscode.window.registerWebviewViewProvider(PANEL, this),
      vscode.workspace.onDidGrantWorkspaceTrust(() => { this.#show(); }),
      vscode.workspace.onDidChangeWorkspaceFolders(() => { this.#show(); }),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration("lineshaft.agent")) this.#show();
      }),
    ];
  }

  /** The run that the last message began; empty: none, or it is not known yet. */
  get run(): string {
    return this.#transcript.run;
  }

  get running(): boolean {
    return this.#transcript.state === "running";
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    this.#view = view;
    view.webview.options = { enableScripts: true, localResourceRoots: [] };
    view.webview.onDidReceiveMessage((said: unknown) => { void this.#said(said); });
    view.onDidDispose(() => { this.#view = undefined; });
    view.webview.html = pageOf(randomBytes(16).toString("base64url"));
  }

  /** Takes an event that the host shows. */
  take(frame: Json): void {
    this.#transcript.take(frame);
    if (!this.running) this.#stopping = false;
    this.#soon();
  }

  /** Forgets what was shown: another host, whose events begin anew. */
  begin(): void {
    this.#transcript = new Transcript();
    this.#stopping = false;
    this.#soon();
  }

  /** Takes note that the host is gone, and the agent with it. */
  lost(): void {
    if (this.running) {
      this.take({ observation: "error", content: "The host ended, and the agent with it.", extras: {} });
      this.take({ observation: "agent_state_changed", extras: { agent_state: "stopped", run_id: this.run } });
    }
  }

  /** Ends the agent that the last message began. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#show();
    try {
      await this.#line.say({ action: "change_agent_state", args: { agent_state: "stopped" } });
    } catch (error) {
      this.#stopping = false;
      this.#refused = error instanceof Error ? error.message : String(error);
    }
    this.#show();
  }

  async #said(given: unknown): Promise<void> {
    const said = readPerson(given);
    if (said === null) return;
    if (said.act === "stop") await this.stop();
    else if (said.act === "choose") await this.#line.choose();
    else if (said.act === "say") await this.#begin(said.text);
    this.#show();
  }

  async #begin(content: string): Promise<void> {
    // The page may say it all the same: it decides nothing.
    if (!vscode.workspace.isTrusted || this.#sending) return;
    this.#sending = true;
    this.#refused = "";
    this.#show();
    try {
      await this.#line.say({ action: "message", args: { content, agent: this.#line.agent() } });
      this.#taken = true;
    } catch (error) {
      this.#refused = error instanceof Error ? error.message : String(error);
    } finally {
      this.#sending = false;
    }
  }

  #soon(): void {
    this.#later ??= setTimeout(() => {
      this.#later = undefined;
      this.#show();
    }, PAUSE_MS);
  }

  #show(): void {
    if (this.#view === undefined) return;
    const now = {
      folder: vscode.workspace.workspaceFolders?.[0]?.uri.scheme === "file",
      trusted: vscode.workspace.isTrusted,
      agent: this.#line.agent(),
      state: this.#transcript.state,
      sending: this.#sending,
      stopping: this.#stopping,
      refused: this.#refused,
    };
    void this.#view.webview.postMessage(stateOf(now, this.#transcript.entries, this.#taken));
    this.#taken = false;
  }

  dispose(): void {
    clearTimeout(this.#later);
    for (const each of this.#registered) each.dispose();
  }
}

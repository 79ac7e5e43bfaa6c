/**
 * `lineshaft serve` as an MCP server that the editor's agents find by themselves.
 */

import { dirname } from "node:path";
import * as vscode from "vscode";

import { type ServerCommand, serversOf, type Situation } from "./served.ts";

/** The name in the package. */
const PROVIDER = "lineshaft";

/** What editors have that take definitions of servers; the oldest that we run in do not. */
interface Stdio {
  cwd?: vscode.Uri;
}
interface Provider {
  readonly onDidChangeMcpServerDefinitions: vscode.Event<void>;
  provideMcpServerDefinitions(): Promise<Stdio[]>;
  resolveMcpServerDefinition(server: Stdio): Promise<Stdio>;
}
interface TakesServers {
  readonly lm?: { registerMcpServerDefinitionProvider?(id: string, provider: Provider): vscode.Disposable };
  readonly McpStdioServerDefinition?: new (label: string, command: string, args: string[]) => Stdio;
}
const EDITOR = vscode as unknown as TakesServers;

export function takesServers(): boolean {
  return typeof EDITOR.lm?.registerMcpServerDefinitionProvider === "function"
    && typeof EDITOR.McpStdioServerDefinition === "function";
}

export class ServerDefinitions implements vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #registered: vscode.Disposable | undefined;

  /** `ready` makes the window ready for runs before the editor starts the server. */
  constructor(situation: () => Promise<Situation>, ready: () => Promise<unknown>) {
    if (!takesServers()) return;
    this.#registered = EDITOR.lm?.registerMcpServerDefinitionProvider?.(PROVIDER, {
      onDidChangeMcpServerDefinitions: this.#changed.event,
      provideMcpServerDefinitions: async () => serversOf(await situation()).map(defined),
      resolveMcpServerDefinition: async (server) => {
        await ready();
        return server;
      },
    });
  }

  /** Settings, trust or folders are others. */
  changed(): void {
    this.#changed.fire();
  }

  dispose(): void {
    this.#registered?.dispose();
    this.#changed.dispose();
  }
}

function defined({ label, command, args }: ServerCommand): Stdio {
  const made = EDITOR.McpStdioServerDefinition;
  if (made === undefined) throw new Error("this editor takes no definitions of servers");
  const server = new made(label, command, [...args]);
  // As where we start Lineshaft ourselves: no file of the folder is in its way.
  server.cwd = vscode.Uri.file(dirname(process.execPath));
  return server;
}

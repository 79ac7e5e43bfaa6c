/**
 * What the editor's agents are offered of Lineshaft: a tool of its own, or `lineshaft serve`.
 *
 * Nothing here needs the editor.
 */

import type { Python } from "../python/carried.ts";

/** The person's choice: `tool` or `server`. */
export type Offer = "tool" | "server";

export interface ServerCommand {
  readonly label: string;
  readonly command: string;
  readonly args: readonly string[];
}

export interface Situation {
  /** Whether Lineshaft is switched on. */
  readonly enabled: boolean;
  readonly offer: Offer;
  /** Whether this editor takes definitions of MCP servers from extensions. */
  readonly takesServers: boolean;
  readonly isTrusted: boolean;
  /** The open folder's real path; null: none of this machine is open. */
  readonly root: string | null;
  readonly python: Python;
}

/** Whether the tool is offered: one of both is, so that no agent has the same twice. */
export function offersTool(now: Pick<Situation, "enabled" | "offer" | "takesServers">): boolean {
  return now.enabled && (now.offer === "tool" || !now.takesServers);
}

/** The server of the open folder; none in a folder that is not trusted, or where the tool is offered. */
export function serversOf(now: Situation): readonly ServerCommand[] {
  if (!now.enabled || offersTool(now) || !now.isTrusted || now.root === null) return [];
  const args = [...now.python.flags, "-m", "lineshaft", "serve", "--workspace", `vscode:${now.root}`];
  return [{ label: "Lineshaft", command: now.python.program, args }];
}

/**
 * What the panel's page and the extension say to each other. Nothing here needs the editor.
 */

import type { AgentState, Entry } from "./transcript.ts";

export interface PanelState {
  readonly entries: readonly Entry[];
  readonly status: string;
  /** Whether the status is what keeps the person from going on. */
  readonly problem: boolean;
  readonly mayType: boolean;
  readonly maySend: boolean;
  readonly mayStop: boolean;
  readonly lacksAgent: boolean;
  /** Whether the message that was sent has been taken: the field becomes empty. */
  readonly taken: boolean;
}

export type PersonSays =
  | { readonly act: "ready" | "stop" | "choose" }
  | { readonly act: "say"; readonly text: string };

export interface Situation {
  readonly folder: boolean;
  readonly trusted: boolean;
  /** The agent that the settings name; empty: none. */
  readonly agent: string;
  readonly state: AgentState;
  /** Whether a message is on its way to the host. */
  readonly sending: boolean;
  /** Whether the person has said that the run is to end. */
  readonly stopping: boolean;
  /** Why the last message was not taken; empty: it was. */
  readonly refused: string;
}

/** What stands below the transcript, and what may be done. */
export function stateOf(now: Situation, entries: readonly Entry[], taken: boolean): PanelState {
  const lacksAgent = now.folder && now.trusted && now.agent === "";
  const running = now.state === "running";
  const free = now.folder && now.trusted && !lacksAgent;
  const problem = !free || now.refused !== "";
  return {
    entries,
    status: statusOf(now),
    problem,
    mayType: now.folder && now.trusted,
    maySend: free && !running && !now.sending,
    mayStop: now.trusted && running && !now.stopping,
    lacksAgent,
    taken,
  };
}

function statusOf(now: Situation): string {
  if (!now.folder) return "Open a folder of this machine first: an agent works in one.";
  if (!now.trusted) {
    return "This folder is not trusted: no agent is started in it. Trust it by Workspaces: Manage Workspace Trust.";
  }
  if (now.agent === "") {
    return "No agent is chosen. Choose one, or name it in the setting lineshaft.agent; `lineshaft agent list` shows those that there are.";
  }
  if (now.refused !== "") return now.refused;
  if (now.stopping && now.state === "running") return `${now.agent} is told to stop.`;
  if (now.sending) return "The message is on its way.";
  switch (now.state) {
    case "running":
      return `${now.agent} is at work.`;
    case "waiting":
      return `${now.agent} waits for your answer: Lineshaft: Approve…`;
    case "error":
      return `${now.agent} ended without a result.`;
    case "stopped":
      return `${now.agent} was stopped.`;
    case "finished":
      return `${now.agent} is done.`;
    case "idle":
      return `Your message starts a run of ${now.agent} in this folder.`;
  }
}

/** Reads what the page says; null: it is nothing that a person could say there. */
export function readPerson(said: unknown): PersonSays | null {
  if (typeof said !== "object" || said === null || !("act" in said)) return null;
  const { act } = said;
  if (act === "ready" || act === "stop" || act === "choose") return { act };
  if (act === "say" && "text" in said && typeof said.text === "string") return { act, text: said.text };
  return null;
}

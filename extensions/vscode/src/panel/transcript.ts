/**
 * What the panel shows: a person's messages, the runs of the agent, their calls as they come.
 *
 * Made of the events that the host shows; nothing here needs the editor.
 */

import { isTable, type Json, textOf } from "../protocol/frames.ts";
import { besideChange, counted, readChanges, took } from "../runs/told.ts";
import { seen } from "../window/texts.ts";

export interface Entry {
  readonly id: string;
  readonly kind: "person" | "agent" | "call" | "output" | "change" | "error" | "note";
  readonly text: string;
  /** Beside the text, such as how a call ended. */
  readonly beside: string;
  /** How many calls it stands under. */
  readonly depth: number;
}

/** How the agent stands; `idle`: there was none yet. */
export type AgentState = "idle" | "running" | "finished" | "stopped" | "error" | "waiting";

const MOST_ENTRIES = 500;
const MOST_TEXT = 20_000;
const STATES: Readonly<Record<string, AgentState>> = {
  running: "running",
  finished: "finished",
  stopped: "stopped",
  error: "error",
  awaiting_user_confirmation: "waiting",
};

export class Transcript {
  #entries: Entry[] = [];
  #leftOut = 0;
  #number = 0;
  #state: AgentState = "idle";
  #run = "";

  get entries(): readonly Entry[] {
    if (this.#leftOut === 0) return this.#entries;
    const text = `${counted(this.#leftOut, "earlier line")} left out: Lineshaft: Show Run shows all`;
    return [{ id: "left", kind: "note", text, beside: "", depth: 0 }, ...this.#entries];
  }

  get state(): AgentState {
    return this.#state;
  }

  /** The run of the agent that the last message began; empty: it is not known yet. */
  get run(): string {
    return this.#run;
  }

  /** Takes an event that the host shows; what is of no use here is left alone. */
  take(frame: Json): void {
    const args = isTable(frame["args"]) ? frame["args"] : {};
    const extras = isTable(frame["extras"]) ? frame["extras"] : {};
    if (frame["action"] === "message") {
      const kind = frame["source"] === "user" ? "person" : "agent";
      this.#add(kind, textOf(args, "content"));
    } else if (frame["observation"] === "agent_state_changed") {
      this.#state = STATES[textOf(extras, "agent_state")] ?? this.#state;
      this.#run = textOf(extras, "run_id");
      if (this.#state === "stopped") this.#add("note", "Stopped. What had landed stays: Lineshaft: Undo Run takes it back.");
      if (this.#state === "waiting") this.#add("note", "The run waits for your answer: Lineshaft: Approve…");
    } else if (frame["observation"] === "error") {
      this.#add("error", textOf(frame, "content"), textOf(extras, "error_id"));
    } else if (frame["observation"] === "run_event") {
      this.#event(extras);
    }
  }

  #event(told: Json): void {
    const call = `call/${textOf(told, "run_id")}/${textOf(told, "call")}`;
    switch (told["kind"]) {
      case "run_started":
        this.#run = textOf(told, "run_id");
        break;
      case "call_asked": {
        this.#run = textOf(told, "run_id");
        const above = this.#entries.find((each) => each.id === `call/${this.#run}/${textOf(told, "parent")}`);
        this.#add("call", textOf(told, "text"), "", above === undefined ? 0 : above.depth + 1, call);
        break;
      }
      case "verdict":
        this.#mark(call, "waits for your answer");
        break;
      case "call_started":
        this.#mark(call, "running");
        break;
      case "call_finished": {
        const error = isTable(told["error"]) ? told["error"] : null;
        const said = error === null ? "" : ` · ${textOf(error, "code")}: ${textOf(error, "message")}`;
        const time = typeof told["duration_ms"] === "number" ? told["duration_ms"] : 0;
        this.#mark(call, `${textOf(told, "status")} · ${took(time)}${said}`);
        break;
      }
      case "output":
      case "log":
        this.#add("output", textOf(told, "text"));
        break;
      case "changes":
        for (const change of readChanges(told)) this.#add("change", change.path, besideChange(change));
        break;
      default:
    }
  }

  #add(kind: Entry["kind"], text: string, beside = "", depth = 0, id = ""): void {
    this.#number += 1;
    const entry = { id: id === "" ? String(this.#number) : id, kind, text: shown(text), beside: line(beside), depth };
    // A call that is asked about again, when its run goes on, keeps its place.
    const place = id === "" ? -1 : this.#entries.findIndex((each) => each.id === id);
    if (place >= 0) this.#entries[place] = entry;
    else this.#entries.push(entry);
    const over = this.#entries.length - MOST_ENTRIES;
    if (over > 0) {
      this.#entries.splice(0, over);
      this.#leftOut += over;
    }
  }

  #mark(id: string, beside: string): void {
    const place = this.#entries.findIndex((each) => each.id === id);
    const entry = this.#entries[place];
    if (entry !== undefined) this.#entries[place] = { ...entry, beside: line(beside) };
  }
}

/** A text over several lines in which all is to be seen. */
function shown(text: string): string {
  const left = text.length - MOST_TEXT;
  const kept = left > 0 ? `${text.slice(0, MOST_TEXT)}\n… ${counted(left, "more character")} left out` : text;
  return kept.split("\n").map((each) => each.split("\t").map(seen).join("\t")).join("\n");
}

function line(text: string): string {
  return seen(text.replaceAll("\n", " ⏎ "));
}

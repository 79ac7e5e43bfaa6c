/**
 * The connection of this window to its host: actions in, answers out until they are acknowledged.
 */

import { io, type Socket } from "socket.io-client";

import { within } from "../files/waiting.ts";
import { Executions, type Kept } from "../protocol/executions.ts";
import {
  type ActionEvent,
  failed,
  isDelegated,
  isTable,
  type Json,
  keyOf,
  type Observation,
  PROTOCOL,
} from "../protocol/frames.ts";
import type { Address } from "./host.ts";

export interface Side {
  /** Does an action; never rejects. */
  perform(event: ActionEvent, signal: AbortSignal, waiting: (open: boolean) => void): Promise<Observation>;
  /** The tools that this window offers, as they are announced. */
  tools(): readonly Json[];
  /** Shows an event of the host, such as one of a run that this window began. */
  display(frame: Json): void;
  /** Called when the state of the connection or the number of running actions changes. */
  changed(): void;
  /** Called when the host does not take this window in the conversation. */
  refused(code: string): void;
  log(level: "info" | "warn", text: string): void;
}

export interface Memory {
  load(conversation: string): Kept | undefined;
  save(conversation: string, kept: Kept): void;
}

export interface About {
  readonly window: string;
  readonly editor: string;
  readonly version: string;
}

/** How long command trees outlive a lost link: as long as the host waits for it. */
const GRACE_MS = 30_000;
const REQUEST_MS = 30_000;
/** For actions to end: a tool of another extension need not heed its cancellation. */
const CLOSE_MS = 10_000;

interface Doing {
  readonly event: ActionEvent;
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

export class Connection {
  readonly conversation: string;
  readonly #socket: Socket;
  readonly #executions: Executions;
  readonly #running = new Map<string, Doing>();
  readonly #side: Side;
  #offered = "";
  #latest = -1;
  #refused = "";
  #grace: NodeJS.Timeout | undefined;
  #state: "open" | "closing" | "closed" = "open";

  constructor(address: Address, conversation: string, about: About, memory: Memory, side: Side) {
    this.conversation = conversation;
    this.#side = side;
    this.#executions = new Executions(memory.load(conversation), (kept) => {
      memory.save(conversation, kept);
    });
    this.#socket = io(address.url, {
      transports: ["websocket"],
      extraHeaders: { Authorization: `Bearer ${address.token}` },
      auth: (give) => {
        give({
          ...about,
          conversation_id: conversation,
          protocol: PROTOCOL,
          latest_event_id: this.#latest,
        });
      },
      reconnectionDelay: 200,
      reconnectionDelayMax: 2_000,
    });
    this.#socket.on("connect", () => { this.#connected(); });
    this.#socket.on("disconnect", (reason) => { this.#disconnected(reason); });
    this.#socket.on("connect_error", (error) => { this.#failed(error); });
    this.#socket.on("oh_event", (frame: unknown) => { this.#received(frame); });
    this.#socket.on("oh_cancel", (said: unknown) => { this.#cancelled(said); });
  }

  get connected(): boolean {
    return this.#socket.connected;
  }

  /** Why the host refuses this window; empty: it does not. */
  get refused(): string {
    return this.#refused;
  }

  get running(): readonly ActionEvent[] {
    return [...this.#running.values()].map((each) => each.event);
  }

  stop(id: string): void {
    this.#running.get(id)?.stop.abort();
  }

  stopAll(): void {
    for (const each of this.#running.values()) each.stop.abort();
  }

  /** Announces the tools that this window offers, where they are others than before. */
  offer(): void {
    const tools = this.#side.tools();
    const text = JSON.stringify(tools);
    if (!this.#socket.connected || text === this.#offered) return;
    this.#offered = text;
    this.#socket.emit("oh_tools", { tools }, (answer: unknown) => {
      const told = isTable(answer) ? answer : {};
      const left = isTable(told["left_out"]) ? Object.entries(told["left_out"]) : [];
      for (const [name, why] of left) this.#side.log("info", `tool ${name} is not offered: ${String(why)}`);
      if (told["ok"] !== true) this.#side.log("warn", `no tools are offered: ${String(told["reason"])}`);
    });
  }

  /** Tells the host what the person says; rejects with why it is not done. */
  async say(frame: Json): Promise<void> {
    if (!this.#socket.connected) throw new Error("Lineshaft is not connected: see its log");
    const answer: unknown = await this.#socket.timeout(REQUEST_MS).emitWithAck("oh_user_action", frame);
    if (isTable(answer) && answer["ok"] === true) return;
    throw new Error(isTable(answer) ? String(answer["reason"]) : "the host did not understand it");
  }

  /**
   * Ends what runs, begins nothing more, and resolves when all has ended and its answers are sent;
   * what does not end in time is left without an answer.
   */
  async close(most = CLOSE_MS): Promise<void> {
    clearTimeout(this.#grace);
    this.#state = "closing";
    this.stopAll();
    const ended = Promise.all([...this.#running.values()].map((each) => each.ended)).then(() => true);
    if (!(await within(ended, most))) {
      const left = [...this.#running.keys()].join(", ");
      this.#side.log("warn", `these actions were stopped, and have not ended: ${left}`);
    }
    this.#state = "closed";
    this.#socket.disconnect();
  }

  #connected(): void {
    clearTimeout(this.#grace);
    this.#refused = "";
    this.#side.log("info", "connected");
    for (const frame of this.#executions.unacknowledged) this.#send(frame);
    this.#offered = "";
    this.offer();
    this.#side.changed();
  }

  #disconnected(reason: string): void {
    this.#side.log("info", `disconnected: ${reason}`);
    if (this.#state === "closed") return;
    this.#grace = setTimeout(() => { this.stopAll(); }, GRACE_MS);
    // Socket.IO comes back by itself after everything but a host that ended the connection.
    if (reason === "io server disconnect") this.#socket.connect();
    this.#side.changed();
  }

  #failed(error: Error & { data?: unknown }): void {
    if (isTable(error.data) && this.#refused !== error.message) {
      this.#refused = error.message;
      this.#side.log("warn", `the host refuses this window: ${error.message}`);
      this.#side.changed();
      this.#side.refused(String(error.data["code"]));
    }
  }

  #received(frame: unknown): void {
    if (!isTable(frame)) return;
    const key = keyOf(frame["id"]);
    if (key !== null) this.#latest = Math.max(this.#latest, Number(key));
    if (!isDelegated(frame)) {
      this.#side.display(frame);
      return;
    }
    const told = this.#executions.receive(frame);
    if (told.kind === "begin" && this.#state !== "open") {
      const text = "Lineshaft is being stopped in this window: nothing more is begun";
      this.#send(this.#executions.answered(told.event.id, failed("E_CANCELLED", text)));
    } else if (told.kind === "begin") this.#begin(told.event);
    else if (told.kind === "send") this.#send(told.frame);
    else this.#side.log("info", `event ${String(key)} is left alone: ${told.reason}`);
  }

  #begin(event: ActionEvent): void {
    const stop = new AbortController();
    const waiting = (open: boolean): void => {
      this.#socket.emit("oh_status", {
        cause: Number(event.id),
        status: open ? "waiting" : "running",
      });
    };
    const ended = this.#side.perform(event, stop.signal, waiting).then((done) => {
      this.#running.delete(event.id);
      // It is not known any more, and what is kept is the next connection's.
      if (this.#state === "closed") return;
      this.#send(this.#executions.answered(event.id, done));
      this.#side.changed();
    });
    this.#running.set(event.id, { event, stop, ended });
    this.#side.changed();
  }

  #cancelled(said: unknown): void {
    const key = isTable(said) ? keyOf(said["id"]) : null;
    if (key !== null) this.stop(key);
  }

  /** Sends an answer; where no acknowledgement comes it is sent again after the next connect. */
  #send(frame: Json): void {
    if (!this.#socket.connected) return;
    this.#socket.emit("oh_event", frame, () => {
      this.#executions.acknowledged(String(frame["cause"]));
    });
  }
}

/** Returns a conversation of the host: the one known from before where it has it, else a new one. */
export async function conversationOf(address: Address, before: string | undefined): Promise<string> {
  const headers = { Authorization: `Bearer ${address.token}` };
  const at = `${address.url}/api/conversations`;
  if (before !== undefined && /^[0-9a-f]+$/.test(before)) {
    const known = await fetch(`${at}/${before}`, { headers, signal: AbortSignal.timeout(REQUEST_MS) });
    if (known.ok) return before;
  }
  const answer = await fetch(at, {
    method: "POST", headers, signal: AbortSignal.timeout(REQUEST_MS),
  });
  const said: unknown = await answer.json();
  if (!answer.ok || !isTable(said) || typeof said["conversation_id"] !== "string") {
    throw new Error(`the host gives no conversation: ${answer.status}`);
  }
  return said["conversation_id"];
}

/**
 * As much of the module `socket.io-client` as tests need: sockets that are connected to nothing.
 */

import { EventEmitter } from "node:events";

export class Socket {
  connected = false;
  readonly sent: [string, Record<string, unknown>][] = [];
  readonly #events = new EventEmitter();

  on(name: string, act: (...given: unknown[]) => void): void {
    this.#events.on(name, act);
  }

  emit(name: string, frame: Record<string, unknown>): void {
    this.sent.push([name, frame]);
  }

  /** Each is acknowledged. */
  timeout(): { emitWithAck(name: string, frame: Record<string, unknown>): Promise<unknown> } {
    return {
      emitWithAck: (name, frame) => {
        this.sent.push([name, frame]);
        return Promise.resolve({ ok: true });
      },
    };
  }

  disconnect(): void {
    this.connected = false;
    this.tell("disconnect", "io client disconnect");
  }

  /** The host, or the socket itself, says something. */
  tell(name: string, said?: unknown): void {
    if (name === "connect") this.connected = true;
    if (name === "disconnect") this.connected = false;
    this.#events.emit(name, said);
  }
}

/** Those that were made, the last one last. */
export const sockets: Socket[] = [];

export function io(): Socket {
  const socket = new Socket();
  sockets.push(socket);
  return socket;
}

/**
 * What a host tells of the runs of its folder, over HTTP on this machine.
 */

import { isTable, type Json, textOf } from "../protocol/frames.ts";
import type { Address } from "../window/host.ts";
import { readDetail, readList, type RunDetail, type RunList } from "./told.ts";

/** Longer than a host lets one wait who asks for another list. */
const REQUEST_MS = 60_000;

export interface Contents {
  readonly before: string;
  readonly after: string;
  /** Why there is nothing to show; empty: there is. */
  readonly note: string;
}

export class RunReader {
  readonly #address: Address;

  constructor(address: Address) {
    this.#address = address;
  }

  /** The newest runs; with a mark, once they are others, or after some seconds. */
  async newest(mark: string, signal?: AbortSignal): Promise<RunList> {
    const after = mark === "" ? "" : `?after=${encodeURIComponent(mark)}`;
    return readList(await this.#got(`/api/runs${after}`, signal));
  }

  async run(id: string): Promise<RunDetail> {
    return readDetail(await this.#got(`/api/runs/${encodeURIComponent(id)}`));
  }

  async change(id: string, path: string): Promise<Contents> {
    const at = `/api/runs/${encodeURIComponent(id)}/changes?path=${encodeURIComponent(path)}`;
    const told = await this.#got(at);
    const [before, after] = [textOf(told, "before"), textOf(told, "after")];
    return { before, after, note: textOf(told, "note") };
  }

  async #got(path: string, signal?: AbortSignal): Promise<Json> {
    const late = AbortSignal.timeout(REQUEST_MS);
    const answer = await fetch(`${this.#address.url}${path}`, {
      headers: { Authorization: `Bearer ${this.#address.token}` },
      signal: signal === undefined ? late : AbortSignal.any([signal, late]),
    });
    const told: unknown = await answer.json();
    if (!isTable(told)) throw new Error("the host did not say it as an object");
    if (answer.ok) return told;
    throw new Error(textOf(told, "message") || `the host answered with ${answer.status}`);
  }
}

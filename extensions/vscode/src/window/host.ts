/**
 * The host of this window: started here, or one that runs already.
 */

import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { open } from "node:fs/promises";
import { createInterface } from "node:readline";

import { isTable, PROTOCOL } from "../protocol/frames.ts";
import type { Python } from "../python/carried.ts";
import { spawnLineshaft } from "../python/lineshaft.ts";

export interface Address {
  readonly url: string;
  readonly token: string;
}

export interface Host {
  readonly address: Address;
  /** Resolves with a sentence when the host has ended by itself. */
  readonly ended: Promise<string>;
  stop(): void;
}

const START_MS = 60_000;
const MOST_SAID = 4_000;

/** Starts `lineshaft editor`; it ends with this process, whose end closes its standard input. */
export async function startHost(python: Python, root: string): Promise<Host> {
  const token = randomBytes(32).toString("base64url");
  const child = spawnLineshaft(python, ["editor", root]);
  let said = "";
  child.stderr.setEncoding("utf8");
  child.stderr.on("data", (text: string) => { said = (said + text).slice(-MOST_SAID); });
  child.stdin.on("error", () => undefined);
  child.stdin.write(`${token}\n`);
  const ended = new Promise<string>((done) => {
    child.once("error", (error) => { done(`${python.program} could not be started: ${error.message}`); });
    child.once("close", (code, signal) => {
      done(said.trim() === "" ? `the host ended (${code ?? signal ?? "unknown"})` : said.trim());
    });
  });
  const line = await Promise.race([firstLine(child), ended.then((text) => { throw new Error(text); })])
    .catch((error: unknown) => {
      child.kill();
      throw error;
    });
  const url = isTable(line) && typeof line["url"] === "string" ? line["url"] : null;
  if (url === null || !isTable(line) || line["protocol"] !== PROTOCOL) {
    child.kill();
    throw new Error(
      `Lineshaft of ${python.program} speaks protocol ${JSON.stringify(isTable(line) ? line["protocol"] : null)},` +
        ` this extension ${PROTOCOL}: update the older one`,
    );
  }
  return { address: { url, token }, ended, stop: () => { child.stdin.end(); } };
}

async function firstLine(child: ChildProcess): Promise<unknown> {
  if (child.stdout === null) throw new Error("the host has no output");
  const lines = createInterface({ input: child.stdout });
  return await new Promise((done, failed) => {
    const timer = setTimeout(() => {
      failed(new Error("the host did not say where it listens"));
    }, START_MS);
    lines.once("line", (line) => {
      clearTimeout(timer);
      try {
        done(JSON.parse(line));
      } catch {
        failed(new Error(`the host said something else than its address: ${line.slice(0, 200)}`));
      }
    });
  });
}

/**
 * Reads the address of a host that runs; refuses a file of another user or one that others may read,
 * and an address that is not of this machine.
 */
export async function knownHost(file: string): Promise<Host> {
  const said: unknown = JSON.parse(await ownText(file));
  if (!isTable(said) || typeof said["url"] !== "string" || typeof said["token"] !== "string") {
    throw new Error(`${file} is no address file`);
  }
  if (!URL.canParse(said["url"]) || !LOOPBACK.has(new URL(said["url"]).hostname)) {
    throw new Error(`${file} names ${said["url"].slice(0, 200)}: a host has to be on this machine`);
  }
  const never = new Promise<string>(() => undefined);
  return {
    address: { url: said["url"], token: said["token"] },
    ended: never,
    stop: () => undefined,
  };
}

const LOOPBACK = new Set(["127.0.0.1", "localhost", "[::1]"]);

async function ownText(file: string): Promise<string> {
  const opened = await open(file, "r");
  try {
    const { mode, uid } = await opened.stat();
    if (process.platform !== "win32") {
      if ((mode & 0o077) !== 0) throw new Error(`${file} can be read by others: its mode has to be 600`);
      if (uid !== process.getuid?.()) throw new Error(`${file} belongs to another user`);
    }
    return await opened.readFile("utf8");
  } finally {
    await opened.close();
  }
}

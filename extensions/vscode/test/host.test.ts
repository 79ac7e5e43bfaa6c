import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { knownHost, startHost } from "../src/window/host.ts";
import { lives, until } from "./stub/processes.ts";

/** Reads an address file with this content and mode. */
async function read(content: unknown, mode = 0o600): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "lineshaft-"));
  try {
    const file = join(folder, "host.json");
    writeFileSync(file, JSON.stringify(content));
    chmodSync(file, mode);
    return (await knownHost(file)).address.url;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

for (const url of ["http://127.0.0.1:4000", "http://localhost:4000", "http://[::1]:4000"]) {
  test(`a host at ${url} is taken`, async () => {
    assert.equal(await read({ url, token: "t" }), url);
  });
}

for (const url of ["http://10.0.0.1:4000", "http://127.0.0.1.example.com", "http://127.0.0.1@example.com/", "no address"]) {
  test(`a host at ${url} is refused`, async () => {
    await assert.rejects(read({ url, token: "t" }), /has to be on this machine/u);
  });
}

test("an address file that others may read is refused", { skip: process.platform === "win32" }, async () => {
  await assert.rejects(read({ url: "http://127.0.0.1:1", token: "t" }, 0o644), /its mode has to be 600/u);
});

test("a program that says something else than its address is ended", { skip: process.platform === "win32" }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "lineshaft-"));
  try {
    const [program, file] = [join(folder, "python"), join(folder, "pid")];
    const script = `require("node:fs").writeFileSync(${JSON.stringify(file)}, String(process.pid)); console.log("hello");`;
    writeFileSync(program, `#!${process.execPath}\n${script} setInterval(() => undefined, 1000);\n`, { mode: 0o700 });
    await assert.rejects(startHost({ program, flags: [] }, folder), /something else than its address: hello/u);
    const pid = Number(readFileSync(file, "utf8"));
    await until(() => !lives(pid));
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("another file is no address file", async () => {
  await assert.rejects(read({ url: "http://127.0.0.1:1" }), /is no address file/u);
});

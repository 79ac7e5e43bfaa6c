import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { chosenPython } from "../src/python/carried.ts";

test("a person's Python comes before the carried one, and that before the machine's", () => {
  const extension = mkdtempSync(join(tmpdir(), "lineshaft-"));
  try {
    assert.deepEqual(chosenPython("", extension, "linux"), { program: "python3", flags: ["-P"] });
    const program = join(extension, "python", "bin", "python3.11");
    mkdirSync(join(extension, "python", "bin"), { recursive: true });
    writeFileSync(program, "");
    assert.deepEqual(chosenPython("", extension, "linux"), { program, flags: ["-I"] });
    assert.equal(chosenPython("/usr/bin/python3", extension, "linux").program, "/usr/bin/python3");
    assert.equal(chosenPython("~/.venv/bin/python", extension, "linux").program, join(homedir(), ".venv/bin/python"));
    assert.equal(chosenPython("", extension, "darwin").program, "python3");
    assert.equal(chosenPython("", extension, "win32").program, "python");
  } finally {
    rmSync(extension, { recursive: true });
  }
});

test("neither the working folder nor a variable names the carried Python", () => {
  const folder = mkdtempSync(join(tmpdir(), "lineshaft-"));
  const before = process.cwd();
  try {
    mkdirSync(join(folder, "python", "bin"), { recursive: true });
    writeFileSync(join(folder, "python", "bin", "python3.11"), "");
    process.chdir(folder);
    assert.equal(chosenPython("", join(folder, "elsewhere"), "linux").program, "python3");
  } finally {
    process.chdir(before);
    rmSync(folder, { recursive: true });
  }
});

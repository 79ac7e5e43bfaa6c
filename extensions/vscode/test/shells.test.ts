import assert from "node:assert/strict";
import { test } from "node:test";

import { shellOf, type TerminalSettings } from "../src/commands/shell/shells.ts";
import { Unavailable } from "../src/commands/shell/unavailable.ts";

const SETTINGS: TerminalSettings = {
  profile: null,
  profiles: {
    zsh: { path: "zsh", args: ["-l"] },
    several: { path: ["none", "/opt/fish"] },
    theirs: { extensionIdentifier: "a.b", id: "c" },
    dash: { path: "/bin/dash" },
  },
  integration: true,
};
const PLACES: Record<string, string> = {
  "/bin/bash": "/bin/bash", zsh: "/usr/bin/zsh", "/opt/fish": "/opt/fish", "/bin/dash": "/bin/dash",
};
const find = (program: string): string | undefined => PLACES[program];

function shell(more: Partial<TerminalSettings>): unknown {
  return shellOf({ ...SETTINGS, ...more }, "/bin/bash", find, "linux");
}

test("the shell is the one of the person's profile, else their login shell", () => {
  assert.deepEqual(shell({}), { name: "bash", path: "/bin/bash", args: [] });
  assert.deepEqual(shell({ profile: "zsh" }), { name: "zsh", path: "/usr/bin/zsh", args: ["-l"] });
  assert.deepEqual(shell({ profile: "several" }), { name: "fish", path: "/opt/fish", args: [] });
});

test("where no terminal can begin commands it is said why", () => {
  const refused: [Partial<TerminalSettings>, RegExp][] = [
    [{ integration: false }, /switched off/],
    [{ profile: "theirs" }, /'theirs' names no program/],
    [{ profile: "unknown" }, /'unknown' names no program/],
    [{ profile: "dash" }, /no shell integration for 'dash'/],
    [{ profile: "gone", profiles: { gone: { path: "/gone/zsh" } } }, /no program '\/gone\/zsh'/],
    [{ profile: "x", profiles: null }, /'x' names no program/],
  ];
  for (const [more, said] of refused) {
    assert.throws(() => shell(more), (error) => error instanceof Unavailable && said.test(error.message));
  }
  assert.throws(() => shellOf(SETTINGS, "/bin/bash", find, "win32"), Unavailable);
});

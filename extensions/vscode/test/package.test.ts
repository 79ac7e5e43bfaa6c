import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";

import { COMMAND_SECONDS, within } from "../src/window/bounds.ts";

interface Setting {
  type: string;
  scope: string;
  description: string;
  enum?: string[];
  enumDescriptions?: string[];
  minimum?: number;
  maximum?: number;
  default: unknown;
}

interface Step {
  description: string;
  media: { markdown: string };
  completionEvents: string[];
}

const HERE = new URL("..", import.meta.url);
const PACKAGE = JSON.parse(readFileSync(new URL("package.json", HERE), "utf8")) as {
  contributes: {
    commands: { command: string }[];
    configuration: { properties: Record<string, Setting> };
    walkthroughs: { steps: Step[] }[];
  };
};
const { commands, configuration, walkthroughs } = PACKAGE.contributes;
const settings = Object.entries(configuration.properties);

test("no folder that is opened can set anything, and each setting says what it is", () => {
  for (const [name, each] of settings) {
    assert.equal(each.scope, "machine", name);
    assert.match(each.description, /^[A-Z].*\.$/s, name);
    assert.equal(each.enum?.length, each.enumDescriptions?.length, name);
    if (each.enum !== undefined) assert.ok(each.enum.includes(String(each.default)), name);
    if (each.type === "number") assert.ok(each.minimum !== undefined && each.maximum !== undefined, name);
  }
});

test("a time that somebody wrote down is kept within its bounds", () => {
  const shown = configuration.properties["lineshaft.commandSeconds"];
  assert.deepEqual([shown?.minimum, shown?.maximum, shown?.default], [
    COMMAND_SECONDS.least, COMMAND_SECONDS.most, COMMAND_SECONDS.otherwise,
  ]);
  const given: [unknown, number][] = [
    [0, 5], [-1, 5], [5, 5], [60, 60], [601, 600], [Infinity, 600], [NaN, 120], ["7", 120], [null, 120],
  ];
  for (const [value, seconds] of given) assert.equal(within(value, COMMAND_SECONDS), seconds);
});

test("each step of the walkthrough leads to what there is", () => {
  const known = new Set([...commands.map((each) => each.command), "workbench.action.openSettings"]);
  const names = new Set(settings.map(([name]) => name));
  for (const step of walkthroughs.flatMap((each) => each.steps)) {
    assert.ok(existsSync(new URL(step.media.markdown, HERE)), step.media.markdown);
    for (const [, command, argument] of step.description.matchAll(/\(command:([\w.]+)(?:\?([^)]+))?\)/g)) {
      assert.ok(known.has(command ?? ""), command);
      if (argument !== undefined) assert.ok(names.has(JSON.parse(decodeURIComponent(argument)) as string), argument);
    }
    for (const event of step.completionEvents) {
      const [kind, what] = event.split(":");
      assert.ok((kind === "onCommand" ? known : names).has(what ?? ""), event);
    }
  }
});

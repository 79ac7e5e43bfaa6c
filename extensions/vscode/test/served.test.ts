import assert from "node:assert/strict";
import { test } from "node:test";

import { offersTool, serversOf, type Situation } from "../src/language/served.ts";

const READY: Situation = {
  enabled: true, offer: "server", takesServers: true, isTrusted: true, root: "/ws", python: { program: "/opt/python3", flags: ["-P"] },
};

test("the server of a trusted folder runs with nothing of the folder in its way", () => {
  assert.deepEqual(serversOf(READY), [{
    label: "Lineshaft",
    command: "/opt/python3",
    args: ["-P", "-m", "lineshaft", "serve", "--workspace", "vscode:/ws"],
  }]);
});

test("no server without trust, without a folder, or beside the tool", () => {
  const less: Partial<Situation>[] = [
    { enabled: false }, { isTrusted: false }, { root: null }, { offer: "tool" }, { takesServers: false },
  ];
  for (const each of less) assert.deepEqual(serversOf({ ...READY, ...each }), []);
});

test("what is switched off offers nothing", () => {
  assert.equal(offersTool({ ...READY, enabled: false, offer: "tool" }), false);
});

test("one of both is offered, whatever the editor can", () => {
  for (const offer of ["tool", "server"] as const) {
    for (const takesServers of [true, false]) {
      const now = { ...READY, offer, takesServers };
      assert.notEqual(offersTool(now), serversOf(now).length > 0);
    }
  }
});

import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";

import { answerWords } from "../src/runs/answers.ts";
import { RunReader } from "../src/runs/reader.ts";
import {
  besideCall, besideChange, besideRun, callsUnder, readDetail, readLine, readList, rowsShown,
  standingOf, titleOfRun, undoneText,
} from "../src/runs/told.ts";

const LINE = {
  run_id: "r1", status: "paused", name: "fix.py", origin: "editor", started: "2026-01-01T10:00:00Z",
  last: "2026-01-01T10:00:01Z", duration_ms: 65_000, calls: 2, pending: 2, process: null,
};

test("a run is told with its phase, its time and what it waits for", () => {
  const run = readLine(LINE);
  assert.equal(titleOfRun(run), "fix.py");
  assert.equal(besideRun(run), "paused · 1 min 05 s · waits for 2 answers");
  assert.equal(standingOf(run), "waiting");
  assert.equal(besideRun(readLine({ ...LINE, status: "running", pending: 0 })), "running");
  assert.equal(titleOfRun(readLine({ ...LINE, name: "" })), "r1");
});

test("a row is drawn anew where it shows something else, and not while its run only goes on", () => {
  const shown = (changed: object): string =>
    rowsShown([readLine({ ...LINE, status: "running", pending: 0, ...changed })]);
  assert.equal(shown({ last: "2026-01-01T10:00:02Z", duration_ms: 66_000, calls: 3 }), shown({}));
  for (const changed of [{ status: "success" }, { name: "other.py" }, { pending: 1 }, { run_id: "r2" }]) {
    assert.notEqual(shown(changed), shown({}));
  }
});

test("what can be done about a run follows from how it stands", () => {
  const standings = ["running", "paused", "interrupted", "success", "cancelled", "", "expired"];
  assert.deepEqual(
    standings.map((status) => standingOf(readLine({ ...LINE, status }))),
    ["running", "waiting", "interrupted", "over", "over", "over", "over"],
  );
});

test("a host that says something else leaves an empty list, and no failure", () => {
  assert.deepEqual(readList({}), { runs: [], mark: "" });
  assert.deepEqual(readList({ results: "x", mark: 3 }), { runs: [], mark: "" });
  const run = readList({ results: [{ run_id: 7, duration_ms: "x", process: "y" }, null] }).runs[0];
  assert.deepEqual([run?.id, run?.milliseconds, run?.process], ["", 0, null]);
  assert.deepEqual(readDetail({ call_list: [3], changes: null, waiting: {} }).calls, []);
});

test("calls stand under the call that made them; one whose maker was left out stands above", () => {
  const call = (id: string, parent: string | null) => ({ id, parent, tool: "t", text: id, status: "done" });
  const { calls } = readDetail({ call_list: [call("a", null), call("b", "a"), call("c", "gone")] });
  assert.deepEqual(callsUnder(calls, null).map((each) => each.id), ["a", "c"]);
  assert.deepEqual(callsUnder(calls, "a").map((each) => each.id), ["b"]);
});

test("a call that failed says why, one that runs has no time yet, and nothing hides in a text", () => {
  const { calls } = readDetail({
    call_list: [
      { id: "a", text: "x", status: "failed", duration_ms: 3, error: { code: "E_STALE", message: "a\u202eb" } },
      { id: "b", text: "y", status: "running", duration_ms: 0 },
    ],
  });
  assert.deepEqual(calls.map(besideCall), ["failed · 3 ms · E_STALE: a\\u{202e}b", "running"]);
});

test("a change says its lines, and whether undo takes it back", () => {
  const { changes } = readDetail({
    changes: [
      { path: "a", kind: "modified", added: 2, removed: 1, undoable: true },
      { path: "b", kind: "created", added: 1, removed: 0 },
    ],
  });
  assert.deepEqual(changes.map(besideChange), ["modified +2 -1", "created +1 -0, cannot be undone"]);
});

test("an undo says what the person had undone before", () => {
  assert.equal(undoneText({ changes: [{}, {}], already: [] }), "2 files as before");
  assert.equal(
    undoneText({ changes: [{}], already: ["a.txt", "b\u202e"], cancelled: true }),
    "1 file as before; as before already, since it was undone here: a.txt, b\\u{202e}; "
      + "the run had not ended, and is cancelled now",
  );
});

test("answers become words of resume", () => {
  const given = (...answers: unknown[]) =>
    ({ observation: "approve", content: "", extras: { answers } }) as const;
  const yes = { id: "a", allow: true, scope: "call" };
  assert.deepEqual(answerWords(given(yes, { id: "b", allow: false, scope: "call" })), [
    "--approve", "a", "--deny", "b",
  ]);
  const all = { id: "c", allow: true, scope: "run" };
  assert.deepEqual(answerWords(given(all)), ["--approve", "c", "--for-run"]);
  assert.deepEqual(answerWords(given(all, yes)), ["--approve", "c,a"]);
  assert.throws(() => answerWords(given()), /no answer/);
  assert.throws(() => answerWords({ observation: "error", content: "", extras: {} }), /no answer/);
});

async function served(answer: (path: string, token: string) => [number, string]): Promise<[Server, string]> {
  const server = createServer((request, response) => {
    const [status, body] = answer(request.url ?? "", request.headers.authorization ?? "");
    response.writeHead(status, { "content-type": "application/json" }).end(body);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return [server, `http://127.0.0.1:${(server.address() as AddressInfo).port}`];
}

test("runs are asked for with the token, and what the host refuses is said", async () => {
  const asked: string[] = [];
  const [server, url] = await served((path, token) => {
    asked.push(`${path} ${token}`);
    if (path === "/api/runs?after=m%2F1") return [200, JSON.stringify({ results: [LINE], mark: "m2" })];
    if (path === "/api/runs/..%2Fx") return [404, JSON.stringify({ message: "no run of this workspace" })];
    if (path === "/api/runs/r/changes?path=a%26b") {
      return [200, JSON.stringify({ before: null, after: "x\n", note: "" })];
    }
    return [200, "[]"];
  });
  try {
    const reader = new RunReader({ url, token: "secret" });
    assert.equal((await reader.newest("m/1")).mark, "m2");
    assert.equal(asked[0], "/api/runs?after=m%2F1 Bearer secret");
    await assert.rejects(reader.run("../x"), /no run of this workspace/);
    assert.deepEqual(await reader.change("r", "a&b"), { before: "", after: "x\n", note: "" });
    await assert.rejects(reader.newest(""), /did not say it as an object/);
  } finally {
    server.close();
  }
});

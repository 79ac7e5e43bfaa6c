import assert from "node:assert/strict";
import { test } from "node:test";

import { isOffered, observed, outputSchemaOf } from "../src/language/choice.ts";

function offered(name: string, tags: string[] = [], edits = false): boolean {
  return isOffered({ name, tags }, edits);
}

test("our own tools, and those that install, type to terminals or start agents, never", () => {
  const never = [
    "run_agent_script", "mcp_lineshaft_run", "run_in_terminal", "get_terminal_output", "runSubagent",
    "run_subagent", "install_extension", "install_python_packages", "create_and_run_task", "run_task",
    "copilot_runVscodeCommand", "run_vscode_command", "executeCommand", "copilot_switchAgent",
    "vscode_searchExtensions_internal",
  ];
  for (const name of never) assert.equal(offered(name, [], true), false, name);
  assert.equal(offered("open", ["vscode_terminal"], true), false);
  for (const name of ["finder_count", "copilot_searchCodebase", "list_code_usages", "fetch_webpage"]) {
    assert.equal(offered(name), true, name);
  }
});

test("tools that change files only where a person has said so", () => {
  for (const name of ["copilot_replaceString", "apply_patch", "rename_symbol", "create_file", "delete_it"]) {
    assert.deepEqual([offered(name), offered(name, [], true)], [false, true], name);
  }
  assert.deepEqual([offered("x", ["vscode_editing"]), offered("x", ["vscode_editing"], true)], [false, true]);
});

test("the schema of results is that of the owner's package", () => {
  const schema = { type: "object" };
  const tool = { name: "a", structuredOutput: schema };
  const packages = [
    null, {}, { contributes: 1 }, { contributes: { languageModelTools: {} } },
    { contributes: { languageModelTools: [null, { name: "b", outputSchema: {} }, tool] } },
  ];
  assert.deepEqual(outputSchemaOf("a", packages), schema);
  assert.equal(outputSchemaOf("none", packages), null);
});

test("a structured part is the result, else the texts are", () => {
  const bytes = (text: string): Uint8Array => Buffer.from(text);
  const data = { mimeType: "application/vnd.code.tool.output", data: bytes('{"n":[1,"ä"]}') };
  assert.deepEqual(observed([{ value: "text" }, data]).extras, {
    structured: true, value: { n: [1, "ä"] },
  });
  const parts = [
    { value: "one" }, { value: { tree: 1 } }, { mimeType: "image/png", data: bytes("1234") },
    { mimeType: "text/plain", data: bytes("two") }, 7, null,
  ];
  const texts = observed(parts);
  assert.equal(texts.content, 'one\n{"tree":1}\n(image/png, 4 bytes)\ntwo');
  assert.deepEqual(texts.extras, { structured: false });
  assert.throws(() => observed([{ ...data, data: bytes("{") }]));
});

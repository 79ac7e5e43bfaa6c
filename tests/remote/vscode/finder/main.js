// A source of diagnostics for tests, as slow as a language server; and who calls a tool of ours.
const fs = require("node:fs");
const path = require("node:path");
const vscode = require("vscode");

/** Has `run_agent_script` run `script.py`, and writes what came to `result.txt`. */
async function script() {
  const root = vscode.workspace.workspaceFolders[0].uri.fsPath;
  const source = new vscode.CancellationTokenSource();
  const looking = setInterval(() => {
    if (fs.existsSync(path.join(root, "cancel"))) source.cancel();
  }, 100);
  const code = fs.readFileSync(path.join(root, "script.py"), "utf8");
  const options = { input: { code }, toolInvocationToken: undefined };
  const text = await vscode.lm.invokeTool("run_agent_script", options, source.token).then(
    (result) => result.content.map((part) => part.value).join(""),
    (error) => `${error.name}: ${error.message}`,
  );
  clearInterval(looking);
  fs.writeFileSync(path.join(root, "result.part"), text);
  fs.renameSync(path.join(root, "result.part"), path.join(root, "result.txt"));
}

exports.activate = (context) => {
  const found = vscode.languages.createDiagnosticCollection("finder");
  const look = (document) => {
    if (document.languageId !== "plaintext") return;
    setTimeout(() => {
      const all = [...document.getText().matchAll(/FIXME/g)].map(({ index }) => {
        const range = new vscode.Range(document.positionAt(index), document.positionAt(index + 5));
        const each = new vscode.Diagnostic(range, "something is to be mended");
        return Object.assign(each, { source: "finder", code: 7 });
      });
      found.set(document.uri, all);
    }, 200);
  };
  vscode.workspace.textDocuments.forEach(look);
  context.subscriptions.push(
    vscode.commands.registerCommand("finder.script", script),
    found,
    vscode.workspace.onDidOpenTextDocument(look),
    vscode.workspace.onDidChangeTextDocument((event) => look(event.document)),
  );
};

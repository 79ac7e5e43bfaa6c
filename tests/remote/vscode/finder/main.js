// A source of diagnostics for tests, as slow as a language server; who calls a tool of ours; tools.
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

const STRUCTURED = "application/vnd.code.tool.output";

/** Counts a word, and gives the result as data and as text. */
const counting = {
  invoke({ input }) {
    if (input.word === "") throw new Error("there is no word to count");
    const root = vscode.workspace.workspaceFolders[0].uri.fsPath;
    const texts = fs.readdirSync(root).filter((each) => each.endsWith(".txt"));
    const all = texts.map((each) => fs.readFileSync(path.join(root, each), "utf8")).join("\n");
    const found = { word: input.word, count: all.split(input.word).length - 1 };
    return new vscode.LanguageModelToolResult([
      new vscode.LanguageModelTextPart(`${found.count} times`),
      new vscode.LanguageModelDataPart(Buffer.from(JSON.stringify(found)), STRUCTURED),
    ]);
  },
};

/** Says that it waits, and then that it was cancelled. */
const waiting = {
  async invoke(_options, token) {
    const root = vscode.workspace.workspaceFolders[0].uri.fsPath;
    await new Promise((done) => {
      token.onCancellationRequested(done);
      fs.writeFileSync(path.join(root, "waits"), "");
    });
    fs.writeFileSync(path.join(root, "stopped"), "");
    throw new vscode.CancellationError();
  },
};

const refusing = {
  invoke() {
    throw new vscode.CancellationError();
  },
};

/** Writes the names of all tools of the editor to `result.txt`, where a file `list-tools` asks. */
function list() {
  const root = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  if (root === undefined || !fs.existsSync(path.join(root, "list-tools"))) return;
  const names = vscode.lm.tools.map((each) => each.name);
  fs.writeFileSync(path.join(root, "result.part"), names.join("\n"));
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
  const listing = setInterval(list, 200);
  vscode.workspace.textDocuments.forEach(look);
  context.subscriptions.push(
    vscode.commands.registerCommand("finder.script", script),
    vscode.lm.registerTool("finder_count", counting),
    vscode.lm.registerTool("finder_wait", waiting),
    vscode.lm.registerTool("finder_refuse", refusing),
    found,
    { dispose: () => clearInterval(listing) },
    vscode.workspace.onDidOpenTextDocument(look),
    vscode.workspace.onDidChangeTextDocument((event) => look(event.document)),
  );
};

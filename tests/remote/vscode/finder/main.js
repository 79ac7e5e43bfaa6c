// A source of diagnostics for tests, as slow as a language server.
const vscode = require("vscode");

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
    found,
    vscode.workspace.onDidOpenTextDocument(look),
    vscode.workspace.onDidChangeTextDocument((event) => look(event.document)),
  );
};

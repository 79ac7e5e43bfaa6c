/**
 * The page of the panel: no request leaves it, and all that it shows is set as text.
 */

/** The script of the page, bundled when the extension is. */
declare const PAGE_SCRIPT: string;

const STYLE = `
  :root { color-scheme: light dark; }
  body {
    margin: 0; padding: 8px; box-sizing: border-box; height: 100vh;
    display: flex; flex-direction: column; gap: 8px;
    color: var(--vscode-foreground, CanvasText); background: var(--vscode-sideBar-background, Canvas);
    font: var(--vscode-font-size, 13px)/1.4 var(--vscode-font-family, sans-serif);
  }
  #log { flex: 1; overflow-y: auto; min-height: 60px; }
  #log:focus-visible, textarea:focus-visible, button:focus-visible {
    outline: 1px solid var(--vscode-focusBorder, Highlight); outline-offset: 1px;
  }
  .entry { margin: 2px 0; white-space: pre-wrap; overflow-wrap: anywhere; }
  .person { margin: 8px 0 4px; padding: 4px 8px; border-radius: 4px;
    border: 1px solid var(--vscode-input-border, GrayText);
    color: var(--vscode-input-foreground, FieldText); background: var(--vscode-input-background, Field); }
  .agent { margin: 6px 0; }
  .call, .output, .change { font-family: var(--vscode-editor-font-family, monospace); font-size: 0.95em; }
  .output { padding-left: 8px; border-left: 2px solid var(--vscode-input-border, GrayText); }
  .error { color: var(--vscode-errorForeground, CanvasText); }
  .note, .beside, #status { color: var(--vscode-descriptionForeground, CanvasText); }
  .depth-1 { margin-left: 12px; } .depth-2 { margin-left: 24px; } .depth-3 { margin-left: 36px; }
  #status { margin: 0; overflow-wrap: anywhere; }
  form { display: flex; flex-wrap: wrap; gap: 6px; }
  label { flex-basis: 100%; }
  textarea { flex-basis: 100%; box-sizing: border-box; min-height: 4.5em; resize: vertical; font: inherit;
    color: var(--vscode-input-foreground, FieldText); background: var(--vscode-input-background, Field);
    border: 1px solid var(--vscode-input-border, GrayText); }
  button { padding: 4px 12px; border: 1px solid var(--vscode-button-border, transparent); font: inherit;
    color: var(--vscode-button-foreground, ButtonText); background: var(--vscode-button-background, ButtonFace); }
  button:disabled { opacity: 0.5; }
  [hidden] { display: none; }
`;

/** The page, whole. Only its own style and script, which carry the nonce, are taken. */
export function pageOf(nonce: string, script = PAGE_SCRIPT): string {
  const policy = `default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'; form-action 'none'; base-uri 'none'`;
  // A text in the script must not end it.
  const code = script.replaceAll("</script", "<\\/script");
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Lineshaft: Agent</title>
<style nonce="${nonce}">${STYLE}</style>
</head>
<body>
<div id="log" role="log" aria-label="What the agent does" aria-live="polite" tabindex="0"></div>
<p id="status" role="status"></p>
<form id="form">
<label for="say">Message for the agent</label>
<textarea id="say" rows="3" aria-describedby="keys"></textarea>
<button id="send" type="submit">Send</button>
<button id="stop" type="button" disabled>Stop</button>
<button id="settings" type="button" hidden>Choose an Agent</button>
<small id="keys" class="note">Ctrl+Enter sends</small>
</form>
<script nonce="${nonce}">${code}</script>
</body>
</html>`;
}

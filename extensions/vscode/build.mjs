// Bundles the extension into one file, and the program that runs commands in terminals into another;
// both need nothing but Node and VS Code. The script of the panel's page is a text in the first: the
// page loads nothing.
import { build } from "esbuild";

const page = await build({
  entryPoints: ["src/panel/page/main.ts"],
  write: false,
  bundle: true,
  platform: "browser",
  format: "iife",
  target: "es2022",
  charset: "ascii",
  logLevel: "warning",
});

// A program of its own: the user's shell starts it in a terminal.
await build({
  entryPoints: ["src/commands/shell/runner.ts"],
  outfile: "dist/runner.cjs",
  bundle: true,
  platform: "node",
  format: "cjs",
  target: "node20",
  logLevel: "warning",
});

await build({
  entryPoints: ["src/extension.ts"],
  outfile: "dist/extension.cjs",
  bundle: true,
  platform: "node",
  format: "cjs",
  target: "node20",
  define: { PAGE_SCRIPT: JSON.stringify(page.outputFiles[0].text) },
  external: ["vscode", "bufferutil", "utf-8-validate"],
  legalComments: "eof",
  logLevel: "warning",
});

// Bundles the extension into one file, which needs nothing but Node and VS Code.
import { build } from "esbuild";

await build({
  entryPoints: ["src/extension.ts"],
  outfile: "dist/extension.cjs",
  bundle: true,
  platform: "node",
  format: "cjs",
  target: "node20",
  external: ["vscode", "bufferutil", "utf-8-validate"],
  legalComments: "eof",
  logLevel: "warning",
});

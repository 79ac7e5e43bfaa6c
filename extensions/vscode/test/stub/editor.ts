/**
 * Has modules of the extension that are imported after this one find stubs instead of what only VS
 * Code has, and of the socket to a host.
 */

import { registerHooks } from "node:module";

// The types are those of the Node that VS Code has; tests run with a newer one.
declare module "node:module" {
  interface Resolved {
    readonly url: string;
    readonly shortCircuit?: boolean;
  }
  type Resolve = (name: string, context: unknown) => Resolved;
  function registerHooks(hooks: {
    resolve(name: string, context: unknown, next: Resolve): Resolved;
  }): void;
}

const STUBS = new Map([
  ["vscode", new URL("vscode.ts", import.meta.url).href],
  ["socket.io-client", new URL("socket.ts", import.meta.url).href],
]);

registerHooks({
  resolve: (name, context, next) => {
    const url = STUBS.get(name);
    return url === undefined ? next(name, context) : { url, shortCircuit: true };
  },
});

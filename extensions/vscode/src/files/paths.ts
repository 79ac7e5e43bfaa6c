/**
 * Paths of actions, decided on the real file system: nothing outside of the open folder.
 */

import { realpath } from "node:fs/promises";
import * as paths from "node:path";

import { ActionError } from "../protocol/frames.ts";

export interface Place {
  /** In the workspace, with `/`; `.` is its root. */
  readonly path: string;
  /** On this machine, every symlink followed. */
  readonly real: string;
}

/** Returns where a path leads; throws `E_SANDBOX_VIOLATION` where that is outside of the root. */
export async function placeOf(root: string, given: string): Promise<Place> {
  if (given.includes("\0")) throw outside(given.replaceAll("\0", "\\0"));
  const base = await realpath(root);
  const asked = paths.isAbsolute(given) ? given : paths.join(root, given);
  const inRoot = [root, base].find((each) => isWithin(each, paths.resolve(asked)));
  if (inRoot === undefined || leadsUp(given)) throw outside(given);
  const real = await realOf(paths.join(base, paths.relative(inRoot, paths.resolve(asked))));
  if (!isWithin(base, real)) throw outside(given);
  const path = paths.relative(base, real).split(paths.sep).join("/");
  return { path: path === "" ? "." : path, real };
}

/** Returns whether a path goes above its beginning somewhere on its way. */
function leadsUp(given: string): boolean {
  if (paths.isAbsolute(given)) return false;
  let depth = 0;
  for (const part of given.split(/[\\/]/)) {
    depth += part === ".." ? -1 : part === "." || part === "" ? 0 : 1;
    if (depth < 0) return true;
  }
  return false;
}

/** Follows symlinks of the part of a path that exists, dangling ones too. */
export async function realOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code !== "ENOENT" && code !== "ENOTDIR") throw error;
  }
  const { lstat, readlink } = await import("node:fs/promises");
  const parent = await realOf(paths.dirname(path));
  const here = paths.join(parent, paths.basename(path));
  const link = await lstat(here).catch(() => null);
  if (link?.isSymbolicLink() === true) {
    return await realOf(paths.resolve(parent, await readlink(here)));
  }
  return here;
}

export function isWithin(root: string, path: string): boolean {
  const way = paths.relative(root, path);
  return way === "" || (way.split(paths.sep)[0] !== ".." && !paths.isAbsolute(way));
}

/** Returns whether two paths are the same one; on Windows, in any case of letters. */
export function isSame(one: string, other: string): boolean {
  return paths.relative(one, other) === "";
}

function outside(given: string): ActionError {
  return new ActionError("E_SANDBOX_VIOLATION", `the path '${given}' is not in the open folder`);
}

/**
 * The Python of this window: the one that a person has set, the one that the extension carries, or
 * the one that the machine has.
 *
 * Nothing of a folder decides it: the setting is the machine's, and the carried one is looked for
 * beside the extension's own code alone. It runs isolated, so that no variable of the environment
 * and no package of the person's adds modules to it.
 */

import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

export interface Python {
  readonly program: string;
  /** Before all other words. */
  readonly flags: readonly string[];
}

const PROGRAMS: Readonly<Partial<Record<NodeJS.Platform, string>>> = {
  linux: "python/bin/python3.11",
};

/**
 * Chooses the Python.
 *
 * @param set The person's setting; empty where there is none.
 * @param extension The folder of the extension.
 */
export function chosenPython(
  set: string,
  extension: string,
  platform: NodeJS.Platform = process.platform,
): Python {
  if (set.startsWith("~/")) return { program: join(homedir(), set.slice(2)), flags: ["-P"] };
  if (set !== "") return { program: set, flags: ["-P"] };
  const carried = PROGRAMS[platform];
  const program = carried === undefined ? "" : join(extension, carried);
  if (program !== "" && existsSync(program)) return { program, flags: ["-I"] };
  // Windows knows no other name: its `python3` may be what opens a shop.
  return { program: platform === "win32" ? "python" : "python3", flags: ["-P"] };
}

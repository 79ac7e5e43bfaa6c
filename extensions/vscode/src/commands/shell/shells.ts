/**
 * The shell of the person's terminals: what they have chosen, never what a folder brings along.
 */

import { basename } from "node:path";

import { Unavailable } from "./unavailable.ts";

export interface Shell {
  /** Its program's name, such as `bash`. */
  readonly name: string;
  readonly path: string;
  readonly args: readonly string[];
}

/** What the person has set for terminals of this platform; null: nothing. */
export interface TerminalSettings {
  /** Name of the profile that a new terminal has. */
  readonly profile: unknown;
  readonly profiles: unknown;
  readonly integration: unknown;
}

/** Those that VS Code has shell integration for. */
const INTEGRATED: readonly string[] = ["bash", "zsh", "fish", "pwsh"];

/**
 * Returns the shell that a terminal has.
 *
 * `system` is the person's login shell, `find` gives the place of a program.
 */
export function shellOf(
  settings: TerminalSettings,
  system: string,
  find: (program: string) => string | undefined,
  platform: NodeJS.Platform = process.platform,
): Shell {
  if (platform === "win32") throw new Unavailable("terminals of Windows write output anew");
  if (settings.integration === false) {
    throw new Unavailable("shell integration is switched off (terminal.integrated.shellIntegration.enabled)");
  }
  const { programs, args } = chosen(settings, system);
  const path = programs.map(find).find((each) => each !== undefined);
  if (path === undefined) throw new Unavailable(`there is no program '${programs.join("', '")}'`);
  const name = basename(path);
  if (!INTEGRATED.includes(name)) throw new Unavailable(`VS Code has no shell integration for '${name}'`);
  return { name, path, args };
}

function chosen(settings: TerminalSettings, system: string): { programs: string[]; args: string[] } {
  const { profile, profiles } = settings;
  if (typeof profile !== "string" || profile === "") return { programs: [system], args: [] };
  const found = (profiles as Record<string, unknown> | null)?.[profile] as
    { path?: unknown; args?: unknown } | null | undefined;
  const programs = texts(found?.path);
  if (programs.length === 0) throw new Unavailable(`the terminal profile '${profile}' names no program`);
  return { programs, args: texts(found?.args) };
}

function texts(given: unknown): string[] {
  const all: unknown[] = Array.isArray(given) ? given : [given];
  return all.filter((each) => typeof each === "string");
}

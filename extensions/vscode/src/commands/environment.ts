/**
 * The part of the editor's environment that a command gets: the rules of `processes/_environment.py`.
 */

const ALLOWED = /^(?:PATH|HOME|LANG|LC_.*|TERM|TMPDIR|TZ)$/;
const SECRET = /KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|AUTH|DSN|WEBHOOK|BEARER/i;
const WINDOWS = /^(?:SystemRoot|ComSpec|PATHEXT|TEMP|TMP|USERPROFILE|APPDATA|LOCALAPPDATA)$/i;

/** Returns the environment of a command; `more` are names in full, secrets too. */
export function environment(
  all: NodeJS.ProcessEnv,
  more: readonly string[],
  platform: NodeJS.Platform = process.platform,
): NodeJS.ProcessEnv {
  const passes = (name: string): boolean =>
    more.includes(name) ||
    (!SECRET.test(name) && (ALLOWED.test(name) || (platform === "win32" && WINDOWS.test(name))));
  return Object.fromEntries(Object.entries(all).filter(([name]) => passes(name)));
}

/** An environment for a program that gets others beside: each of their names is null in it. */
export function without(
  env: NodeJS.ProcessEnv,
  names: readonly string[],
): Record<string, string | null | undefined> {
  return { ...Object.fromEntries(names.map((name) => [name, null])), ...env };
}

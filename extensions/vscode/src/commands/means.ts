/**
 * Where commands run, in words: for a person who decides about one, and for who reads its result.
 */

export const CHILD_PROCESS = "as a child process";

export function inTerminal(shell: string): string {
  return `in the terminal \`${shell}\` of the editor`;
}

/** Names the place and the variables that a command gets there. */
export function whereOf(place: string, env: NodeJS.ProcessEnv): string {
  const names = Object.keys(env).sort();
  return `${place}, with ${names.length === 0 ? "no variables" : names.join(", ")}`;
}

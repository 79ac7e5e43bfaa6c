/**
 * Bounds of settings: the editor shows them, and takes any number all the same.
 */

export interface Bounds {
  readonly least: number;
  readonly most: number;
  readonly otherwise: number;
}

/** Seconds for a command that says no time of its own. */
export const COMMAND_SECONDS: Bounds = { least: 5, most: 600, otherwise: 120 };

/** A number within its bounds; what is no number is the usual one. */
export function within(given: unknown, { least, most, otherwise }: Bounds): number {
  if (typeof given !== "number" || Number.isNaN(given)) return otherwise;
  return Math.min(most, Math.max(least, given));
}

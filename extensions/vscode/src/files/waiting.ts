/**
 * Waiting for the editor, which need not answer.
 */

export const SAVE_MS = 30_000;

/** Returns what a promise gives, or false where that takes too long. */
export async function within(given: Thenable<boolean>, milliseconds: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((done) => {
    timer = setTimeout(() => { done(false); }, milliseconds);
  });
  try {
    return await Promise.race([given, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * No terminal of the user's can run a command, and the message says why: nothing was started.
 */

export class Unavailable extends Error {}

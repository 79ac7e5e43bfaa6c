/**
 * The shell that runs the text of a command.
 */

/**
 * Its words before the text. A pipe of Node's is a socket, by which bash takes itself for the shell of
 * a remote login, and would read the person's start file with all that it exports.
 */
export const BASH = ["bash", "--norc", "-c"] as const;

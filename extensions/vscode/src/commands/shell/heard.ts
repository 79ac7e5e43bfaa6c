/**
 * What a command prints, out of all that its terminal was sent: between two marks, as plain text.
 *
 * The marks carry a number that nobody can guess. What the command prints is never taken for a
 * statement of the terminal: sequences of shell integration in it are left out, and told.
 */

import type { Output } from "../output.ts";

const NUMBER = 6973;

/** The sequences that stand before and behind a command's output; terminals show neither. */
export function marksOf(nonce: string): { begin: string; end: string } {
  return { begin: `\x1b]${NUMBER};${nonce};begin\x07`, end: `\x1b]${NUMBER};${nonce};end\x07` };
}

const TEXT = /^[^\x1b\x90\x98\x9b\x9d-\x9f]+/;
/** An operating-system command; one that another escape interrupts counts as nothing. */
const SYSTEM = /^(?:\x1b\]|\x9d)([^\x07\x1b\x9c\x18\x1a]*)(\x07|\x1b\\|\x9c|\x18|\x1a|(?=\x1b[^\\]))/;
const STRING = /^(?:\x1b[PX^_]|[\x90\x98\x9e\x9f])[^\x1b\x9c\x18\x1a]*(?:\x1b\\|\x9c|\x18|\x1a|(?=\x1b[^\\]))/;
const CONTROL = /^(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]/;
const BEGUN_CONTROL = /^(?:\x1b\[|\x9b)[0-?]*[ -/]*$/;
const SHORT = /^\x1b[ -/]*[0-OQ-WYZ\\`-~]/;
const BEGUN = /^(?:\x1b[ -/]*$|\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])/;
/** Longer ones are no sequences. */
const MOST_OF_SEQUENCE = 1_000_000;
const INTEGRATION = /^(?:133|633|1337);/;

export class Heard {
  /** Resolves once the mark behind the output has come: nothing is missing. */
  readonly complete: Promise<void>;
  readonly #begin: string;
  readonly #end: string;
  readonly #output: Output;
  #rest = "";
  #return = false;
  #state: "before" | "within" | "behind" = "before";
  #completed: () => void = () => undefined;
  #foreign = false;

  constructor(nonce: string, output: Output) {
    const { begin, end } = marksOf(nonce);
    this.#begin = begin.slice(2, -1);
    this.#end = end.slice(2, -1);
    this.#output = output;
    this.complete = new Promise((done) => { this.#completed = done; });
  }

  /** Whether the output had statements of its own for the terminal, such as a false end. */
  get foreign(): boolean {
    return this.#foreign;
  }

  add(chunk: string): void {
    this.#rest += chunk;
    while (this.#rest !== "" && this.#state !== "behind") {
      const taken = this.#next(this.#rest);
      if (taken === 0) return;
      this.#rest = this.#rest.slice(taken);
    }
  }

  /** Takes what stands first, and returns its length; 0: more of it has to come. */
  #next(text: string): number {
    const plain = TEXT.exec(text)?.[0];
    if (plain !== undefined) {
      this.#print(plain);
      return plain.length;
    }
    const system = SYSTEM.exec(text);
    if (system !== null) {
      this.#stated(system[1] ?? "");
      return system[0].length;
    }
    const sequence = (STRING.exec(text) ?? CONTROL.exec(text) ?? SHORT.exec(text))?.[0];
    if (sequence !== undefined) return sequence.length;
    const begun = BEGUN_CONTROL.test(text) || BEGUN.test(text);
    return begun && text.length < MOST_OF_SEQUENCE ? 0 : 1;
  }

  #stated(text: string): void {
    if (this.#state === "before") {
      if (text === this.#begin) this.#state = "within";
    } else if (text === this.#end) {
      this.#state = "behind";
      if (this.#return) this.#output.add(Buffer.from("\r"));
      this.#completed();
    } else if (INTEGRATION.test(text)) {
      this.#foreign = true;
    }
  }

  /** The terminal's line discipline has put a return before each line feed. */
  #print(text: string): void {
    if (this.#state !== "within") return;
    const held = this.#return ? `\r${text}` : text;
    this.#return = held.endsWith("\r");
    const whole = this.#return ? held.slice(0, -1) : held;
    this.#output.add(Buffer.from(whole.replaceAll("\r\n", "\n")));
  }
}

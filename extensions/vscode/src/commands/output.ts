/**
 * What a command prints, as far as it is kept.
 */

const MOST_BYTES = 10_000_000;

/** Output of a bounded size: of more, the beginning and how much is left out. */
export class Output {
  readonly #parts: Buffer[] = [];
  readonly #shown: ((text: string) => void) | undefined;
  readonly #decoder = new TextDecoder();
  #bytes = 0;

  constructor(shown: ((text: string) => void) | undefined) {
    this.#shown = shown;
  }

  add(data: Buffer): void {
    if (this.#bytes < MOST_BYTES) this.#parts.push(data.subarray(0, MOST_BYTES - this.#bytes));
    this.#bytes += data.length;
    this.#shown?.(this.#decoder.decode(data, { stream: true }));
  }

  text(): string {
    const text = Buffer.concat(this.#parts).toString("utf8");
    const left = this.#bytes - MOST_BYTES;
    return left > 0 ? `${text}\n[... ${left} bytes left out ...]\n` : text;
  }
}

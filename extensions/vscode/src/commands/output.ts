/**
 * What a command prints, as far as it is kept.
 */

const MOST_BYTES = 10_000_000;
/** As JSON, in which a control character has six: two outputs fit into one message. */
const MOST_WRITTEN = 15_000_000;

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
    let kept = Buffer.concat(this.#parts);
    let text = kept.toString("utf8");
    while (Buffer.byteLength(JSON.stringify(text)) > MOST_WRITTEN) {
      kept = kept.subarray(0, Math.floor(kept.length / 2));
      text = kept.toString("utf8");
    }
    const left = this.#bytes - kept.length;
    return left > 0 ? `${text}\n[... ${left} bytes left out ...]\n` : text;
  }
}

/**
 * Turns of dialogs: one is open at a time, and none is shown over another.
 */

export interface Dialog {
  /** How many questions wait in it. */
  readonly waiting: number;
  readonly isOpen: boolean;
  show(): void;
}

export class Turns {
  readonly #dialogs: Dialog[] = [];
  readonly #changed: () => void;

  /** `changed` is told when the number of questions or what is shown may be another. */
  constructor(changed: () => void) {
    this.#changed = changed;
  }

  add(dialog: Dialog): void {
    this.#dialogs.push(dialog);
  }

  get waiting(): number {
    return this.#dialogs.reduce((sum, each) => sum + each.waiting, 0);
  }

  /** A question came: its dialog is shown now, or once the one that is open has its answers. */
  ask(dialog: Dialog): void {
    if (!this.#dialogs.some((each) => each !== dialog && each.isOpen)) dialog.show();
    this.changed();
  }

  /** Shows what waits, unless something is shown. */
  next(): void {
    const open = this.#dialogs.find((each) => each.isOpen && each.waiting > 0);
    (open ?? this.#dialogs.find((each) => each.waiting > 0))?.show();
  }

  changed(): void {
    this.#changed();
  }
}

/**
 * The actions `read`, `write` and `edit`.
 */

import { readdir, stat } from "node:fs/promises";
import * as paths from "node:path";

import {
  ActionError,
  type EditAction,
  type Observation,
  type ReadAction,
  type WriteAction,
} from "../protocol/frames.ts";
import { type Documents, type Held, same } from "./documents.ts";
import { diffOf, inserted, replaced, snippet, viewed, windowOf, withLines } from "./editing.ts";
import { type Place, placeOf } from "./paths.ts";
import { type DecodedText, decodedText, encoded } from "./text.ts";

const DEPTH = 2;
const KEPT_EDITS = 20;
const PLAIN: DecodedText = { text: "", encoding: "utf-8", mark: new Uint8Array() };

interface Step {
  /** Null: there was no file. */
  readonly before: Uint8Array | null;
  readonly after: Uint8Array;
}

export class Files {
  readonly #root: string;
  readonly #documents: Documents;
  readonly #steps = new Map<string, Step[]>();

  constructor(root: string, documents: Documents) {
    this.#root = root;
    this.#documents = documents;
  }

  async read(action: ReadAction): Promise<Observation> {
    const place = await placeOf(this.#root, action.path);
    const text = textOf(await this.#documents.read(place, true), place).text;
    return {
      observation: "read",
      content: windowOf(text, action.start, action.end, action.viewRange, place.path),
      extras: { path: action.path, impl_source: "default" },
    };
  }

  async write(action: WriteAction): Promise<Observation> {
    const place = await placeOf(this.#root, action.path);
    const before = await this.#documents.maybe(place);
    const whole = action.start <= 0 && action.end === -1;
    if (before === null) {
      const text = withLines("", action.content, action.start, action.end);
      await this.#create(place, encoded(text, PLAIN, place.path));
    } else {
      const held = whole ? { data: before, unsaved: null } : await this.#documents.read(place, false);
      const old = whole ? (decodedText(before) ?? PLAIN) : textOf(held, place);
      const text = withLines(old.text, action.content, action.start, action.end);
      await this.#change(place, before, encoded(text, old, place.path), old);
    }
    return {
      observation: "write",
      content: `${place.path} is written`,
      extras: { path: action.path },
    };
  }

  async edit(action: EditAction): Promise<Observation> {
    const place = await placeOf(this.#root, action.path);
    switch (action.command) {
      case "view":
        return view(action.path, await this.#view(place, action));
      case "create":
        return await this.#made(place, action);
      case "undo_edit":
        return await this.#undo(place, action);
      default:
        return await this.#edited(place, action);
    }
  }

  async #view(place: Place, action: EditAction): Promise<string> {
    const found = await stat(place.real).catch(() => null);
    if (found?.isDirectory() === true) {
      if (action.viewRange !== null) {
        const text = `'${place.path}' is a folder: it has no \`view_range\``;
        throw new ActionError("E_TOOL_FAILED", text);
      }
      return (await listed(place.real, place.path, DEPTH)).join("\n");
    }
    const text = textOf(await this.#documents.read(place, true), place).text;
    return viewed(text, action.viewRange, place.path);
  }

  async #made(place: Place, action: EditAction): Promise<Observation> {
    const text = action.fileText;
    if (text === null) throw new ActionError("E_INVALID_ARGS", "`create` needs `file_text`");
    if ((await stat(place.real).catch(() => null)) !== null) {
      const said = `'${place.path}' exists: edit it, or choose another name`;
      throw new ActionError("E_PRECONDITION_FAILED", said);
    }
    await this.#create(place, encoded(text, PLAIN, place.path));
    return {
      observation: "edit",
      content: `${place.path} is created`,
      extras: {
        path: action.path,
        prev_exist: false,
        old_content: null,
        new_content: text,
        impl_source: "oh_aci",
        diff: diffOf("", text, place.path),
      },
    };
  }

  async #edited(place: Place, action: EditAction): Promise<Observation> {
    const held = await this.#documents.read(place, false);
    const old = textOf(held, place);
    const text =
      action.command === "insert"
        ? inserted(old.text, action.insertLine, action.newStr, place.path)
        : replaced(old.text, action.oldStr, action.newStr, place.path);
    const after = await this.#change(place, held.data, encoded(text, old, place.path), old);
    return edited(action.path, place.path, old.text, decodedText(after)?.text ?? text);
  }

  async #undo(place: Place, action: EditAction): Promise<Observation> {
    const steps = this.#steps.get(place.real) ?? [];
    const step = steps.at(-1);
    if (step === undefined) {
      const text = `no edit of '${place.path}' can be taken back`;
      throw new ActionError("E_PRECONDITION_FAILED", text);
    }
    const held = await this.#documents.read(place, false);
    if (held.unsaved !== null || !same(held.data, step.after)) {
      const text = `'${place.path}' was changed since its last edit here: edit it by hand`;
      throw new ActionError("E_PRECONDITION_FAILED", text);
    }
    if (step.before === null) await this.#documents.delete(place);
    else await this.#documents.write(place, held.data, step.before);
    steps.pop();
    const before = step.before === null ? "" : (decodedText(step.before)?.text ?? "");
    return edited(action.path, place.path, textOf(held, place).text, before);
  }

  async #create(place: Place, data: Uint8Array): Promise<void> {
    await this.#documents.create(place, data);
    this.#remember(place, { before: null, after: data });
  }

  async #change(
    place: Place,
    onDisk: Uint8Array,
    data: Uint8Array,
    old: DecodedText,
  ): Promise<Uint8Array> {
    const after = await this.#documents.write(place, onDisk, data);
    const before = decodedText(onDisk) === null ? onDisk : encoded(old.text, old, place.path);
    this.#remember(place, { before, after });
    return after;
  }

  #remember(place: Place, step: Step): void {
    const steps = [...(this.#steps.get(place.real) ?? []), step];
    this.#steps.set(place.real, steps.slice(-KEPT_EDITS));
  }
}

function textOf(held: Held, place: Place): DecodedText {
  const text = decodedText(held.data);
  if (text === null) {
    const said = `'${place.path}' is not a text file: use a command that knows its format`;
    throw new ActionError("E_TOOL_FAILED", said);
  }
  return held.unsaved === null ? text : { ...text, text: held.unsaved };
}

async function listed(real: string, path: string, depth: number): Promise<string[]> {
  const entries = await readdir(real, { withFileTypes: true });
  const shown = entries.filter((each) => !each.name.startsWith("."));
  shown.sort((one, other) => (one.name < other.name ? -1 : 1));
  const lines: string[] = [];
  for (const each of shown) {
    const below = path === "." ? each.name : `${path}/${each.name}`;
    lines.push(each.isDirectory() ? `${below}/` : below);
    if (each.isDirectory() && depth > 1) {
      lines.push(...(await listed(paths.join(real, each.name), below, depth - 1)));
    }
  }
  return lines;
}

function view(path: string, content: string): Observation {
  const extras = {
    path, prev_exist: true, old_content: null, new_content: null, impl_source: "oh_aci", diff: null,
  };
  return { observation: "edit", content, extras };
}

function edited(given: string, path: string, before: string, after: string): Observation {
  return {
    observation: "edit",
    content: `${path} is edited:\n${snippet(before, after)}`,
    extras: {
      path: given,
      prev_exist: true,
      old_content: before,
      new_content: after,
      impl_source: "oh_aci",
      diff: diffOf(before, after, path),
    },
  };
}

/**
 * Events on the wire, in the form of OpenHands; `docs/editor-protocol.md` has the rules.
 */

export const PROTOCOL = 1;
export const MESSAGE_BYTES = 32 * 1024 * 1024;

export type Json = Record<string, unknown>;

export interface RunAction {
  readonly kind: "run";
  readonly command: string;
  readonly isInput: boolean;
  readonly cwd: string | null;
  readonly hidden: boolean;
}
export interface ReadAction {
  readonly kind: "read";
  readonly path: string;
  readonly start: number;
  readonly end: number;
  readonly viewRange: readonly number[] | null;
}
export interface WriteAction {
  readonly kind: "write";
  readonly path: string;
  readonly content: string;
  readonly start: number;
  readonly end: number;
}
export const EDITS = ["view", "create", "str_replace", "insert", "undo_edit"] as const;
export interface EditAction {
  readonly kind: "edit";
  readonly path: string;
  readonly command: (typeof EDITS)[number];
  readonly fileText: string | null;
  readonly oldStr: string | null;
  readonly newStr: string | null;
  readonly insertLine: number | null;
  readonly viewRange: readonly number[] | null;
}
export interface RunPythonAction {
  readonly kind: "run_python";
  readonly code: string | null;
  readonly file: string | null;
  readonly args: readonly string[];
}
export interface GetErrorsAction {
  readonly kind: "get_errors";
  readonly paths: readonly string[] | null;
}
export interface BuffersAction {
  readonly kind: "buffers";
  /** Versions whose content need not be sent again, by path. */
  readonly known: ReadonlyMap<string, string>;
  /** A file of this machine that the host has made; null: none is asked for. */
  readonly nonce: string | null;
}
export interface PrepareAction {
  readonly kind: "prepare";
  /** Files that a landing changes. */
  readonly paths: readonly string[];
  /** The process that is about to start, in words; empty: none. */
  readonly process: string;
  /** Versions that the person has left unsaved before, by path. */
  readonly known: ReadonlyMap<string, string>;
}
export interface FileEdit {
  readonly path: string;
  /** Hash of the content that the file has to have; null: there has to be none. */
  readonly before: string | null;
  readonly after: Uint8Array;
}
export interface LandAction {
  readonly kind: "land";
  readonly edits: readonly FileEdit[];
}
export interface ReviewedChange {
  readonly path: string;
  readonly kind: string;
  /** Its old path; empty: it was not moved. */
  readonly movedFrom: string;
  /** Null: there is no text to show, and `note` says why. */
  readonly before: Uint8Array | null;
  readonly after: Uint8Array | null;
  readonly note: string;
}
export interface ReviewAction {
  readonly kind: "review";
  readonly changes: readonly ReviewedChange[];
}
export interface WaitingCall {
  readonly id: string;
  readonly tool: string;
  /** Its arguments, a line for each: the name and the value, in JSON. */
  readonly text: string;
  readonly reason: string;
  readonly diff: string;
  /** The addresses that a yes for the run is limited to; empty: to the rule that asks. */
  readonly holdsFor: string;
}
export interface ApproveAction {
  readonly kind: "approve";
  readonly calls: readonly WaitingCall[];
}
export interface CallToolAction {
  readonly kind: "call_tool";
  readonly name: string;
  readonly input: Json;
  /** What this window gave the program that calls, where it started that; empty: nothing. */
  readonly invocation: string;
}
export type Action =
  | RunAction
  | ReadAction
  | WriteAction
  | EditAction
  | RunPythonAction
  | GetErrorsAction
  | BuffersAction
  | PrepareAction
  | ReviewAction
  | LandAction
  | ApproveAction
  | CallToolAction;

export interface ActionEvent {
  readonly id: string;
  readonly action: Action;
  /** Seconds that it may take; null: it says nothing. */
  readonly timeout: number | null;
}

/** An answer without its place in the conversation. */
export interface Observation {
  readonly observation: Action["kind"] | "error";
  readonly content: string;
  readonly extras: Json;
  readonly success?: boolean;
}

/** A failure with its code, such as `E_FILE_NOT_FOUND`. */
export class ActionError extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export function failed(code: string, text: string): Observation {
  return { observation: "error", content: text, extras: { error_id: code } };
}

/** Returns an id as it is compared: the digits of a whole number; null where it is none. */
export function keyOf(given: unknown): string | null {
  const text = typeof given === "number" && Number.isInteger(given) ? String(given) : given;
  return typeof text === "string" && /^(?:0|[1-9][0-9]{0,15})$/.test(text) ? text : null;
}

export function isDelegated(frame: Json): boolean {
  return "action" in frame && frame["execution_target"] === "editor";
}

export function isTable(given: unknown): given is Json {
  return typeof given === "object" && given !== null && !Array.isArray(given);
}

/** The text under a name; empty where there is none. */
export function textOf(table: Json, name: string): string {
  const found = table[name];
  return typeof found === "string" ? found : "";
}

/** Reads an action; throws an `ActionError` that names what does not fit. */
export function readAction(frame: Json): ActionEvent {
  const id = keyOf(frame["id"]);
  if (id === null) throw new ActionError("E_UNSUPPORTED", "an action has no usable id");
  const args = new Arguments(`action ${id}`, isTable(frame["args"]) ? frame["args"] : {});
  const state = args.maybe("confirmation_state", "string");
  if (state !== null && state !== "confirmed") {
    throw new ActionError("E_DENIED", `action ${id} is not confirmed by a person`);
  }
  const timeout = frame["timeout"] ?? null;
  if (timeout !== null && !(typeof timeout === "number" && timeout > 0)) {
    throw new ActionError("E_UNSUPPORTED", `the timeout of action ${id} is no positive number`);
  }
  return { id, action: actionOf(frame["action"], args), timeout };
}

function actionOf(kind: unknown, args: Arguments): Action {
  switch (kind) {
    case "run":
      return {
        kind,
        command: args.text("command"),
        isInput: args.maybe("is_input", "boolean") ?? false,
        cwd: args.maybe("cwd", "string"),
        hidden: args.maybe("hidden", "boolean") ?? false,
      };
    case "read":
      return {
        kind,
        path: args.text("path"),
        start: args.maybe("start", "number") ?? 0,
        end: args.maybe("end", "number") ?? -1,
        viewRange: args.numbers("view_range"),
      };
    case "write":
      return {
        kind,
        path: args.text("path"),
        content: args.text("content"),
        start: args.maybe("start", "number") ?? 0,
        end: args.maybe("end", "number") ?? -1,
      };
    case "edit": {
      const command = EDITS.find((each) => each === args.text("command"));
      if (command === undefined) {
        throw new ActionError("E_UNSUPPORTED", `an edit is one of ${EDITS.join(", ")}`);
      }
      return {
        kind,
        path: args.text("path"),
        command,
        fileText: args.maybe("file_text", "string"),
        oldStr: args.maybe("old_str", "string"),
        newStr: args.maybe("new_str", "string"),
        insertLine: args.maybe("insert_line", "number"),
        viewRange: args.numbers("view_range"),
      };
    }
    case "run_python":
      return {
        kind,
        code: args.maybe("code", "string"),
        file: args.maybe("file", "string"),
        args: args.texts("args"),
      };
    case "get_errors":
      return { kind, paths: args.has("paths") ? args.texts("paths") : null };
    case "buffers":
      return { kind, known: args.known("known"), nonce: args.maybe("nonce", "string") };
    case "prepare":
      return {
        kind,
        paths: args.texts("paths"),
        process: args.maybe("process", "string") ?? "",
        known: args.known("known"),
      };
    case "review":
      return { kind, changes: args.tables("changes").map(reviewedChange) };
    case "land":
      return { kind, edits: args.tables("edits").map(fileEdit) };
    case "approve":
      return { kind, calls: args.tables("calls").map(waitingCall) };
    case "call_tool":
      return {
        kind,
        name: args.text("name"),
        input: args.table("arguments"),
        invocation: args.maybe("invocation", "string") ?? "",
      };
    default:
      throw new ActionError("E_UNSUPPORTED", `the action ${JSON.stringify(kind)} is not supported`);
  }
}

function fileEdit(given: Json, number: number): FileEdit {
  const args = new Arguments(`edit ${number}`, given);
  const after = Buffer.from(args.text("data"), "base64");
  return { path: args.text("path"), before: args.maybe("before", "string"), after };
}

function reviewedChange(given: Json, number: number): ReviewedChange {
  const args = new Arguments(`change ${number}`, given);
  const bytes = (name: string): Uint8Array | null => {
    const text = args.maybe(name, "string");
    return text === null ? null : Buffer.from(text, "base64");
  };
  return {
    path: args.text("path"),
    kind: args.text("kind"),
    movedFrom: args.maybe("moved_from", "string") ?? "",
    before: bytes("before"),
    after: bytes("after"),
    note: args.maybe("note", "string") ?? "",
  };
}

function waitingCall(given: Json, number: number): WaitingCall {
  const args = new Arguments(`call ${number}`, given);
  return {
    id: args.text("id"),
    tool: args.text("tool"),
    text: args.text("text"),
    reason: args.maybe("reason", "string") ?? "",
    diff: args.maybe("diff", "string") ?? "",
    holdsFor: args.maybe("holds_for", "string") ?? "",
  };
}

interface Kinds {
  string: string;
  number: number;
  boolean: boolean;
}

class Arguments {
  readonly #what: string;
  readonly #given: Json;
  constructor(what: string, given: Json) {
    this.#what = what;
    this.#given = given;
  }

  text(name: string): string {
    const found = this.maybe(name, "string");
    if (found === null) this.#refuse(`.${name} is missing`);
    return found;
  }

  maybe<K extends keyof Kinds>(name: string, kind: K): Kinds[K] | null {
    const found = this.#given[name] ?? null;
    if (found === null) return null;
    if (typeof found !== kind) this.#refuse(`.${name} is no ${kind}`);
    return found as Kinds[K];
  }

  has(name: string): boolean {
    return (this.#given[name] ?? null) !== null;
  }

  numbers(name: string): readonly number[] | null {
    const found = this.#given[name] ?? null;
    if (found === null) return null;
    if (!isListOf(found, "number")) this.#refuse(`.${name} is no list of numbers`);
    return found as number[];
  }

  texts(name: string): readonly string[] {
    const found = this.#given[name] ?? [];
    if (!isListOf(found, "string")) this.#refuse(`.${name} is no list of texts`);
    return found as string[];
  }

  known(name: string): ReadonlyMap<string, string> {
    const found = this.#given[name] ?? {};
    if (!isTable(found)) this.#refuse(`.${name} is no object`);
    const pairs = Object.entries(found);
    return new Map(pairs.filter((pair): pair is [string, string] => typeof pair[1] === "string"));
  }

  table(name: string): Json {
    const found = this.#given[name] ?? {};
    if (!isTable(found)) this.#refuse(`.${name} is no object`);
    return found;
  }

  tables(name: string): readonly Json[] {
    const found = this.#given[name] ?? null;
    if (!Array.isArray(found) || !found.every(isTable)) this.#refuse(`.${name} is no list of objects`);
    return found;
  }

  #refuse(text: string): never {
    throw new ActionError("E_UNSUPPORTED", `${this.#what} cannot be read: ${text}`);
  }
}

function isListOf(given: unknown, kind: string): boolean {
  return Array.isArray(given) && given.every((each) => typeof each === kind);
}

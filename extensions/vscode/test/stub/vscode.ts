/**
 * As much of the module `vscode` as tests need: documents over the disk, each for its own path, and
 * a window in which nothing is shown.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export const EndOfLine = { LF: 1, CRLF: 2 } as const;
type End = (typeof EndOfLine)[keyof typeof EndOfLine];

export const Uri = {
  file: (fsPath: string): Uri => ({ scheme: "file", fsPath, toString: () => `file://${fsPath}` }),
  joinPath: (base: Uri, ...parts: string[]): Uri => Uri.file(join(base.fsPath, ...parts)),
};
export interface Uri {
  readonly scheme: string;
  readonly fsPath: string;
  toString(): string;
}

export class Range {
  readonly start: number;
  readonly end: number;

  constructor(start: number, end: number) {
    this.start = start;
    this.end = end;
  }
}

export class TextDocument {
  readonly uri: Uri;
  readonly isClosed = false;
  readonly languageId = "python";
  text: string;
  eol: End;
  isDirty = false;
  version = 1;

  constructor(uri: Uri) {
    this.uri = uri;
    this.text = readFileSync(uri.fsPath, "utf8");
    this.eol = this.text.includes("\r\n") ? EndOfLine.CRLF : this.text.includes("\n") ? EndOfLine.LF : state.eol;
  }

  getText(): string {
    return this.text;
  }

  positionAt(offset: number): number {
    return offset;
  }

  save(): Promise<boolean> {
    writeFileSync(this.uri.fsPath, this.text);
    this.isDirty = false;
    return Promise.resolve(true);
  }

  /** A person types, or a program does. */
  type(text: string): void {
    this.text = text.replace(/\r?\n/g, this.eol === EndOfLine.CRLF ? "\r\n" : "\n");
    this.isDirty = true;
    this.version += 1;
  }
}

export const state = {
  documents: [] as TextDocument[],
  /** Of documents without a line break. */
  eol: EndOfLine.LF as End,
  /** Called after each edit of a program. */
  edited: null as ((document: TextDocument) => void) | null,
  folder: null as string | null,
  diagnostics: [] as [Uri, object[]][],
  settings: {} as Record<string, unknown>,
  commands: new Map<string, () => unknown>(),
  status: { text: "", tooltip: "", show: () => undefined, dispose: () => undefined },
  /** Called with each error of the log. */
  failed: null as ((text: string) => void) | null,
};

interface Edit {
  readonly range: Range;
  readonly text: string;
  readonly eol?: End;
}

export const TextEdit = {
  replace: (range: Range, text: string): Edit => ({ range, text }),
  setEndOfLine: (eol: End): Edit => ({ range: new Range(0, 0), text: "", eol }),
};

export class WorkspaceEdit {
  readonly edits = new Map<string, readonly Edit[]>();

  set(uri: Uri, edits: readonly Edit[]): void {
    this.edits.set(uri.fsPath, edits);
  }

  replace(uri: Uri, range: Range, text: string): void {
    this.set(uri, [{ range, text }]);
  }
}

export const workspace = withRest({
  isTrusted: true,
  getConfiguration: () => ({ get: (name: string) => state.settings[name] }),
  get textDocuments(): readonly TextDocument[] {
    return state.documents;
  },
  get workspaceFolders(): readonly { uri: Uri }[] | undefined {
    return state.folder === null ? undefined : [{ uri: Uri.file(state.folder) }];
  },
  openTextDocument: (uri: Uri): Promise<TextDocument> => {
    let found = state.documents.find((each) => each.uri.fsPath === uri.fsPath);
    if (found === undefined) {
      found = new TextDocument(uri);
      state.documents.push(found);
    }
    return Promise.resolve(found);
  },
  applyEdit: (edit: WorkspaceEdit): Promise<boolean> => {
    for (const [path, edits] of edit.edits) {
      const document = state.documents.find((each) => each.uri.fsPath === path);
      if (document === undefined) return Promise.resolve(false);
      let text = document.text;
      for (const { range, text: part, eol } of edits) {
        text = text.slice(0, range.start) + part + text.slice(range.end);
        document.eol = eol ?? document.eol;
      }
      document.type(text);
      state.edited?.(document);
    }
    return Promise.resolve(true);
  },
});

export const languages = {
  getDiagnostics: (uri?: Uri): unknown =>
    uri === undefined ? state.diagnostics : state.diagnostics.find(([each]) => each.fsPath === uri.fsPath)?.[1] ?? [],
  /** Nothing is said later. */
  onDidChangeDiagnostics: disposable,
};

export const window = withRest({
  tabGroups: {
    all: [],
    activeTabGroup: { activeTab: undefined },
    close: () => Promise.resolve(true),
  },
  createOutputChannel: () => withRest({ error: (text: string) => { state.failed?.(text); } }),
  createStatusBarItem: () => state.status,
  createTreeView: () => withRest({ visible: false }),
});

export const commands = {
  executeCommand: async (name: string): Promise<void> => {
    await state.commands.get(name)?.();
  },
  registerCommand: (name: string, act: () => unknown): Disposable => {
    state.commands.set(name, act);
    return disposable();
  },
};

export const env = { sessionId: "session", appName: "Editor" };
export const version = "1.0.0";
export const extensions = { all: [] };
export const lm = undefined;
export const StatusBarAlignment = { Left: 1 };

export class ThemeIcon {
  readonly id: string;

  constructor(id: string) {
    this.id = id;
  }
}

export class EventEmitter {
  readonly event = disposable;
  readonly fire = (): void => undefined;
  readonly dispose = (): void => undefined;
}

/** What a tab shows. */
export class TabInputText {
  readonly uri = Uri.file("");
}

export class Disposable {
  static from(...all: { dispose(): void }[]): Disposable {
    return new Disposable(() => { for (const each of all) each.dispose(); });
  }

  readonly dispose: () => void;

  constructor(dispose: () => void) {
    this.dispose = dispose;
  }
}

/** Has each function that is not named do nothing, and return what can be disposed of. */
function withRest<T extends object>(named: T): T {
  return new Proxy(named, { get: (own, name) => name in own ? Reflect.get(own, name) as unknown : disposable });
}

function disposable(): Disposable {
  return new Disposable(() => undefined);
}

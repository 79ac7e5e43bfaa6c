/**
 * As much of the module `vscode` as tests need: documents over the disk, each for its own path.
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

export const workspace = {
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
  onDidChangeTextDocument: disposable,
};

export const languages = {
  getDiagnostics: (uri?: Uri): unknown =>
    uri === undefined ? state.diagnostics : state.diagnostics.find(([each]) => each.fsPath === uri.fsPath)?.[1] ?? [],
  /** Nothing is said later. */
  onDidChangeDiagnostics: disposable,
};

export const window = {
  tabGroups: {
    all: [],
    activeTabGroup: { activeTab: undefined },
    close: () => Promise.resolve(true),
  },
};

export const commands = { executeCommand: () => Promise.resolve() };

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

function disposable(): Disposable {
  return new Disposable(() => undefined);
}

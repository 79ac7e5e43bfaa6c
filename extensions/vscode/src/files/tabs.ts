/**
 * Tabs behind the one that a person looks at, for servers that look at nothing else.
 *
 * TypeScript's server and others say nothing of a document that an extension alone has opened: they
 * judge what stands in a tab. So a file has one as long as we wait for what they find in it.
 */

import * as vscode from "vscode";

interface HeldTab {
  /** How many wait for it. */
  waiting: number;
  /** Whether another tab was in front when it was opened. */
  readonly isBehind: boolean;
}

export class BackgroundTabs {
  readonly #held = new Map<string, HeldTab>();

  /** Has each file in a tab as long as the work lasts. */
  async during<T>(files: readonly vscode.Uri[], work: () => Promise<T>): Promise<T> {
    const held: vscode.Uri[] = [];
    try {
      for (const each of files) if (await this.#hold(each)) held.push(each);
      return await work();
    } finally {
      await this.#release(held);
    }
  }

  /** Opens a tab where there is none; returns whether it is ours. */
  async #hold(uri: vscode.Uri): Promise<boolean> {
    const known = this.#held.get(uri.toString());
    if (known !== undefined) known.waiting += 1;
    else if (tabsOf(uri).length > 0) return false;
    else {
      const isBehind = vscode.window.tabGroups.activeTabGroup.activeTab !== undefined;
      this.#held.set(uri.toString(), { waiting: 1, isBehind });
      const shown = { background: true, preserveFocus: true, preview: false, override: true };
      try {
        await vscode.commands.executeCommand("vscode.open", uri, shown);
      } catch (error) {
        this.#held.delete(uri.toString());
        throw error;
      }
    }
    return true;
  }

  /** Closes tabs that nobody waits for any more; those that a person took up stay. */
  async #release(files: readonly vscode.Uri[]): Promise<void> {
    const over: vscode.Tab[] = [];
    for (const each of files) {
      const held = this.#held.get(each.toString());
      if (held === undefined) continue;
      held.waiting -= 1;
      if (held.waiting > 0) continue;
      this.#held.delete(each.toString());
      over.push(...tabsOf(each).filter((tab) => !isTakenUp(tab, held)));
    }
    await vscode.window.tabGroups.close(over, true);
  }
}

function tabsOf(uri: vscode.Uri): vscode.Tab[] {
  return vscode.window.tabGroups.all
    .flatMap((each) => each.tabs)
    .filter(({ input }) => input instanceof vscode.TabInputText && input.uri.toString() === uri.toString());
}

function isTakenUp(tab: vscode.Tab, held: HeldTab): boolean {
  return tab.isDirty || tab.isPinned || (tab.isActive && held.isBehind);
}

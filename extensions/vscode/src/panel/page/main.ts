/// <reference lib="dom" />
/**
 * The script of the panel's page. It sets texts, and tells the extension what the person does.
 */

import type { PanelState, PersonSays } from "../messages.ts";

declare function acquireVsCodeApi(): {
  postMessage(said: PersonSays): void;
  getState(): unknown;
  setState(state: unknown): void;
};

const editor = acquireVsCodeApi();

function byId<T extends HTMLElement>(id: string, kind: new () => T): T {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`the page has no ${id}`);
  return found;
}

const log = byId("log", HTMLDivElement);
const status = byId("status", HTMLParagraphElement);
const form = byId("form", HTMLFormElement);
const say = byId("say", HTMLTextAreaElement);
const send = byId("send", HTMLButtonElement);
const stop = byId("stop", HTMLButtonElement);
const settings = byId("settings", HTMLButtonElement);

/** Whether the person looks at the end, which then stays in sight. */
let atEnd = true;

function toEnd(): void {
  if (atEnd) log.scrollTop = log.scrollHeight;
}

const shown = new Map<string, HTMLDivElement>();

function show(state: PanelState): void {
  const kept = new Set(state.entries.map((each) => each.id));
  for (const [id, element] of shown) {
    if (kept.has(id)) continue;
    element.remove();
    shown.delete(id);
  }
  for (const entry of state.entries) {
    const element = shown.get(entry.id) ?? document.createElement("div");
    element.className = `entry ${entry.kind} depth-${Math.min(entry.depth, 3)}`;
    const beside = document.createElement("span");
    beside.className = "beside";
    beside.textContent = entry.beside === "" ? "" : `  ${entry.beside}`;
    const text = `${entry.text}${beside.textContent}`;
    if (element.textContent !== text) element.replaceChildren(entry.text, beside);
    if (!shown.has(entry.id)) log.append(element);
    shown.set(entry.id, element);
  }
  toEnd();
  status.textContent = state.status;
  status.className = state.problem ? "error" : "";
  send.disabled = !state.maySend;
  say.disabled = !state.mayType;
  stop.disabled = !state.mayStop;
  settings.hidden = !state.lacksAgent;
  if (state.taken) {
    say.value = "";
    editor.setState({});
  }
}

const before = editor.getState();
if (typeof before === "object" && before !== null && "draft" in before) say.value = String(before.draft);

log.addEventListener("scroll", () => {
  atEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 24;
});
new ResizeObserver(toEnd).observe(log);
say.addEventListener("input", () => { editor.setState({ draft: say.value }); });
say.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    form.requestSubmit();
  }
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (!send.disabled && say.value.trim() !== "") editor.postMessage({ act: "say", text: say.value });
});
stop.addEventListener("click", () => { editor.postMessage({ act: "stop" }); });
settings.addEventListener("click", () => { editor.postMessage({ act: "choose" }); });
window.addEventListener("message", (event: MessageEvent<PanelState>) => { show(event.data); });
editor.postMessage({ act: "ready" });

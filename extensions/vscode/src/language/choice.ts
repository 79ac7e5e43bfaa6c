/**
 * Which language-model tools of the editor are offered to runs, and what their results say.
 *
 * Nothing here needs the editor.
 */

import type { Json, Observation } from "../protocol/frames.ts";
import { isTable } from "../protocol/frames.ts";

/** Our own tool, and what `lineshaft serve` offers where the editor has it as an MCP server. */
const OURS = /^(?:run_agent_script$|mcp_lineshaft)/i;
/**
 * Not for scripts: who installs, types to terminals or starts other agents, and who runs commands, by
 * which all of that can be done.
 */
const NEVER =
  /install|terminal|(?:sub|switch)_?agent|(?:run|create)_?(?:and_?run_?)?task|(?:run|execute)_?(?:vs_?code_?)?command|extension/i;
/** Only where a person has said so. */
const EDITS = /edit|insert|replace|apply_?patch|write|rename|delete|remove|move|create|notebook/i;
/** The media type of a part that is the result as JSON. */
const STRUCTURED = "application/vnd.code.tool.output";

export interface ListedTool {
  readonly name: string;
  readonly tags: readonly string[];
}

/** Whether a tool is offered; `edits`: whether those that change files are, too. */
export function isOffered(tool: ListedTool, edits: boolean): boolean {
  const words = [tool.name, ...tool.tags];
  if (OURS.test(tool.name) || words.some((each) => NEVER.test(each))) return false;
  return edits || !words.some((each) => EDITS.test(each));
}

/** The schema of a tool's results, as its owner's package has it; null: it says nothing. */
export function outputSchemaOf(name: string, packages: readonly unknown[]): Json | null {
  for (const each of packages) {
    const points = isTable(each) ? each["contributes"] : null;
    const tools = isTable(points) ? points["languageModelTools"] : null;
    for (const tool of Array.isArray(tools) ? (tools as unknown[]) : []) {
      if (!isTable(tool) || tool["name"] !== name) continue;
      const schema = tool["outputSchema"] ?? tool["structuredOutput"];
      if (isTable(schema)) return schema;
    }
  }
  return null;
}

/** The observation that a tool's result is: its structured part, else its texts. */
export function observed(parts: readonly unknown[]): Observation {
  const texts: string[] = [];
  for (const part of parts) {
    const [type, data] = isTable(part) ? [part["mimeType"], part["data"]] : [null, null];
    if (typeof type === "string" && data instanceof Uint8Array) {
      if (type === STRUCTURED) {
        const value: unknown = JSON.parse(Buffer.from(data).toString("utf8"));
        return { observation: "call_tool", content: "", extras: { structured: true, value } };
      }
      texts.push(textual(type) ? Buffer.from(data).toString("utf8") : `(${type}, ${data.length} bytes)`);
    } else if (isTable(part) && typeof part["value"] === "string") {
      texts.push(part["value"]);
    } else if (isTable(part)) {
      texts.push(JSON.stringify(part["value"] ?? null));
    }
  }
  return { observation: "call_tool", content: texts.join("\n"), extras: { structured: false } };
}

function textual(type: string): boolean {
  return type.startsWith("text/") || /^application\/(?:.*\+)?json$/.test(type);
}

/**
 * A person's answers as `lineshaft resume` takes them. Nothing here needs the editor.
 */

import { isTable, type Observation } from "../protocol/frames.ts";

/** The words that give the answers of an observation `approve`; throws where there is none. */
export function answerWords(done: Observation): string[] {
  const given = done.extras["answers"];
  const answers = (Array.isArray(given) ? given : []).filter(isTable);
  const ids = (allow: boolean): string =>
    answers.filter((each) => each["allow"] === allow).map((each) => String(each["id"])).join(",");
  const [allowed, denied] = [ids(true), ids(false)];
  if (allowed === "" && denied === "") throw new Error("there is no answer");
  const words: string[] = [];
  if (allowed !== "") words.push("--approve", allowed);
  if (denied !== "") words.push("--deny", denied);
  const scopes = answers.filter((each) => each["allow"] === true).map((each) => each["scope"]);
  if (denied === "" && scopes.every((each) => each === "run")) words.push("--for-run");
  return words;
}

/** Completion of operations, variables and the program's own names. */

import { autocompletion, type Completion, type CompletionContext, type CompletionResult } from "@codemirror/autocomplete";
import type { Extension } from "@codemirror/state";

import { operations, summary } from "../model/operations.ts";
import { leavesOf, variables } from "../model/variables.ts";

const KEYWORDS = ["for", "while", "if", "elif", "else", "in", "range", "def", "return", "grad", "stop_gradient"];

/** Names are looked for so far into the program, at each key. */
const MOST_CHARACTERS = 100_000;

/** What may stand where a name is being typed. */
function complete(context: CompletionContext): CompletionResult | null {
  const word = context.matchBefore(/[A-Za-z_][\w.]*/);
  if (word === null || (word.from === word.to && !context.explicit)) return null;
  const known = leavesOf(variables.value).map(([path]): Completion => ({ label: path, type: "variable", detail: "variable", boost: 2 }));
  const assigned = [...context.state.sliceDoc(0, MOST_CHARACTERS).matchAll(/^[ \t]*([A-Za-z_]\w*)[ \t]*=[^=]/gm)].map((found) => found[1] ?? "");
  const own = [...new Set(assigned)].map((label): Completion => ({ label, type: "variable", boost: 1 }));
  const named = operations.value.map((operation): Completion => ({
    label: operation.name,
    type: "function",
    detail: operation.signature.slice(operation.name.length),
    info: summary(operation),
    apply: `${operation.name}(`,
  }));
  const keywords = KEYWORDS.map((label): Completion => ({ label, type: "keyword" }));
  return { from: word.from, options: [...known, ...own, ...keywords, ...named], validFor: /^[\w.]*$/ };
}

export const completion: Extension = autocompletion({ override: [complete], icons: false });

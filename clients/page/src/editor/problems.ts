/** Problems underlined where they are in the text. */

import { type Diagnostic, setDiagnostics } from "@codemirror/lint";
import type { Text } from "@codemirror/state";
import type { EditorView } from "@codemirror/view";
import { effect } from "@preact/signals";

import type { Place, Problem } from "../service/client.ts";

/** The characters of a place: the name or number that begins there, or one character. */
export function rangeOf(text: Text, place: Place): { from: number; to: number } | null {
  const { line: number, column = 1 } = place;
  if (number === undefined || number < 1 || number > text.lines) return null;
  const line = text.line(number);
  const from = Math.min(line.from + offsetOf(line.text, column), line.to);
  const [word = ""] = /^[\w.]+/.exec(line.text.slice(from - line.from)) ?? [];
  const to = Math.min(from + Math.max(word.length, 1), line.to);
  return from < to ? { from, to } : { from: line.from, to: line.to };
}

/** Where a column is in a line: the service counts characters, and this editor, as JavaScript, some of them twice. */
function offsetOf(line: string, column: number): number {
  let offset = 0;
  for (let i = 1; i < column && offset < line.length; i += 1) offset += (line.codePointAt(offset) ?? 0) > 0xffff ? 2 : 1;
  return offset;
}

/** A problem as the editor shows it; null if it has no place in the program. */
export function diagnostic(text: Text, problem: Problem): Diagnostic | null {
  const range = problem.node === undefined ? null : rangeOf(text, problem.node);
  if (range === null) return null;
  const hint = problem.hint === undefined ? "" : `\n${problem.hint}`;
  return { ...range, severity: "error", message: `${problem.title}: ${problem.detail}${hint}` };
}

/** Show what `find` finds in the editor's text, after each change of its signals. */
export function showProblems(view: EditorView, find: (text: Text) => Diagnostic | null): () => void {
  return effect(() => {
    const found = find(view.state.doc);
    view.dispatch(setDiagnostics(view.state, found === null ? [] : [found]));
  });
}

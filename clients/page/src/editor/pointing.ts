/** The line that the pointer is on, here or in another view, is highlighted. */

import { type Extension, StateEffect, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView } from "@codemirror/view";
import { effect } from "@preact/signals";

import { pointed, visited } from "../model/pointing.ts";

const setLine = StateEffect.define<number | null>();
const mark = Decoration.line({ class: "cm-pointed" });

const field = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(shown, transaction) {
    let decorations = shown.map(transaction.changes);
    for (const { value } of transaction.effects.filter((one) => one.is(setLine))) {
      const text = transaction.state.doc;
      const isLine = value !== null && value >= 1 && value <= text.lines;
      decorations = isLine ? Decoration.set([mark.range(text.line(value).from)]) : Decoration.none;
    }
    return decorations;
  },
  provide: (shown) => EditorView.decorations.from(shown),
});

export const pointing: Extension = [
  field,
  EditorView.domEventHandlers({
    mousemove(event, view) {
      const at = view.posAtCoords({ x: event.clientX, y: event.clientY });
      const line = at === null ? null : view.state.doc.lineAt(at).number;
      if (line !== (pointed.value?.line ?? null)) pointed.value = line === null ? null : { line };
    },
    mouseleave() {
      pointed.value = null;
    },
  }),
];

/** Follow what is pointed at in other views, and go to the lines that they ask for. */
export function followPointer(view: EditorView): () => void {
  const first = visited.peek();
  const ends = [
    effect(() => {
      const line = pointed.value?.line ?? null;
      view.dispatch({ effects: setLine.of(line) });
    }),
    effect(() => {
      const to = visited.value;
      if (to === null || to === first) return;
      const { from } = view.state.doc.line(Math.min(to.line, view.state.doc.lines));
      view.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: "center" }) });
      view.focus();
    }),
  ];
  return () => ends.forEach((end) => end());
}

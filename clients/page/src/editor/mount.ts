/** An editor in a shadow root: there its styles need no permission of the content security policy. */

import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { lintKeymap } from "@codemirror/lint";
import { EditorState, type Extension } from "@codemirror/state";
import { drawSelection, EditorView, highlightSpecialChars, keymap } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { effect, type Signal } from "@preact/signals";

/** Colours are the page's own, for light and dark alike. */
const highlighting = HighlightStyle.define([
  { tag: tags.keyword, color: "var(--syntax-keyword)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--syntax-number)" },
  { tag: tags.string, color: "var(--syntax-string)" },
  { tag: tags.comment, color: "var(--quiet)", fontStyle: "italic" },
  { tag: tags.propertyName, color: "var(--syntax-name)" },
  { tag: tags.function(tags.variableName), color: "var(--syntax-function)" },
]);

const theme = EditorView.theme({
  "&": { color: "var(--text)", backgroundColor: "var(--raised)", fontSize: "0.9375rem", height: "100%" },
  "&.cm-focused": { outline: "none" },
  ".cm-content": { fontFamily: "var(--code)", caretColor: "var(--text)", padding: "0.5rem 0" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "var(--raised)", color: "var(--quiet)", border: "none" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--selected)" },
  ".cm-pointed": { backgroundColor: "var(--pointed)" },
  ".cm-tooltip": { backgroundColor: "var(--raised)", color: "var(--text)", border: "1px solid var(--line)", borderRadius: "6px" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": { backgroundColor: "var(--accent)", color: "var(--on-accent)" },
  ".cm-completionInfo": { maxWidth: "24rem", padding: "0.5rem 0.75rem" },
  ".cm-diagnostic": { padding: "0.4rem 0.6rem", whiteSpace: "pre-wrap" },
  ".cm-matchingBracket": { backgroundColor: "var(--selected)" },
});

/** A text of so many characters is read when typing pauses, not at each key. */
const LONG = 100_000;
const LONG_PAUSE_MILLISECONDS = 150;

/** Mount an editor of `text` in `host`; returns its view and what ends it. */
export function mountEditor(host: HTMLElement, text: Signal<string>, label: string, extensions: Extension): { view: EditorView; end: () => void } {
  // What the editor shows: a long text is not put together again to be compared.
  let shown = text.value;
  let pending: ReturnType<typeof setTimeout> | undefined;
  const read = () => {
    clearTimeout(pending);
    pending = undefined;
    text.value = shown = view.state.doc.toString();
  };
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  const view: EditorView = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: shown,
      extensions: [
        history(),
        drawSelection(),
        highlightSpecialChars(),
        indentOnInput(),
        bracketMatching(),
        closeBrackets(),
        syntaxHighlighting(highlighting),
        theme,
        EditorView.contentAttributes.of({ "aria-label": label, "aria-description": "Tab indents. Escape, then Tab, leaves the editor.", tabindex: "0", autocorrect: "off", autocapitalize: "off", spellcheck: "false" }),
        EditorView.updateListener.of((update) => {
          if (!update.docChanged) return;
          clearTimeout(pending);
          if (update.state.doc.length < LONG) read();
          else pending = setTimeout(read, LONG_PAUSE_MILLISECONDS);
        }),
        extensions,
        // Escape, then Tab, leaves the editor by keyboard: CodeMirror's own way.
        keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, ...completionKeymap, ...lintKeymap, indentWithTab]),
      ],
    }),
  });
  const follow = effect(() => {
    const changed = text.value;
    if (changed !== shown) view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: changed } });
  });
  return {
    view,
    end: () => {
      if (pending !== undefined) read();
      follow();
      view.destroy();
    },
  };
}

/** The editor of the program. */

import { pythonLanguage } from "@codemirror/lang-python";
import { lineNumbers } from "@codemirror/view";
import { useEffect, useRef } from "preact/hooks";

import { problem } from "../model/answer.ts";
import { program } from "../model/document.ts";
import { completion } from "./completion.ts";
import { mountEditor } from "./mount.ts";
import { followPointer, pointing } from "./pointing.ts";
import { diagnostic, showProblems } from "./problems.ts";

export function ProgramEditor() {
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (host.current === null) return undefined;
    // The language's grammar is Python's.
    const { view, end } = mountEditor(host.current, program, "Program", [pythonLanguage, lineNumbers(), completion, pointing]);
    const ends = [
      showProblems(view, (text) => (problem.value === null ? null : diagnostic(text, problem.value))),
      followPointer(view),
      end,
    ];
    return () => ends.forEach((stop) => stop());
  }, []);
  return <div class="editor program" ref={host} />;
}

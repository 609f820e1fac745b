/** The editor of the variables' JSON text. */

import { json } from "@codemirror/lang-json";
import { useEffect, useRef } from "preact/hooks";

import { variablesFault, variablesText } from "../model/variables.ts";
import { mountEditor } from "./mount.ts";
import { showProblems } from "./problems.ts";

export function VariablesEditor() {
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (host.current === null) return undefined;
    const { view, end } = mountEditor(host.current, variablesText, "Variables, as JSON", json());
    const stop = showProblems(view, (text) => {
      const fault = variablesFault.value;
      if (fault === null) return null;
      const from = Math.max(0, Math.min(fault.at, text.length - 1));
      return { from, to: Math.min(from + 1, text.length), severity: "error", message: fault.message };
    });
    return () => {
      stop();
      end();
    };
  }, []);
  return <div class="editor variables" ref={host} />;
}

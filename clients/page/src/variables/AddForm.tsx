/** Another variable: a name with a number, a list or a formula, or a file. */

import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";

import { large, setLarge } from "../model/document.ts";
import { faultOf } from "../model/jsonFault.ts";
import { leavesOf, setLeaf, variables } from "../model/variables.ts";
import type { Json } from "../service/json.ts";
import { FormulaError, generate } from "./generate.ts";
import { isLoading, loadFiles } from "./loading.ts";
import { readElement } from "./parts.ts";

const NAME = /^[\p{L}_][\p{L}\p{N}_]*(\.[\p{L}\p{N}_]+)*$/u;

export function AddForm() {
  const name = useSignal("");
  const value = useSignal("");
  const fault = useSignal("");
  const chooser = useRef<HTMLInputElement>(null);
  const add = () => {
    const path = name.value.normalize("NFKC").trim();
    fault.value = faultOfName(path) ?? addVariable(path, value.value.trim()) ?? "";
    if (fault.value !== "") return;
    name.value = "";
    value.value = "";
  };
  return (
    <form
      class="add"
      aria-label="Add a variable"
      onSubmit={(event) => {
        event.preventDefault();
        add();
      }}
    >
      <input
        type="text"
        class="name"
        aria-label="Name of the new variable"
        placeholder="name"
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        value={name.value}
        onInput={(event) => (name.value = event.currentTarget.value)}
      />
      <input
        type="text"
        class="value"
        aria-label="Value of the new variable"
        placeholder="0.5, [1, 2] or normal(100, 3)"
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        value={value.value}
        onInput={(event) => (value.value = event.currentTarget.value)}
      />
      <button type="submit">Add</button>
      <button type="button" disabled={isLoading.value} onClick={() => chooser.current?.click()}>
        {isLoading.value ? "Reading…" : "File…"}
      </button>
      <input
        ref={chooser}
        type="file"
        multiple
        hidden
        accept=".npy,.csv,.tsv,.txt"
        aria-label="Files"
        onChange={(event) => {
          const files = [...(event.currentTarget.files ?? [])];
          // The same file may be chosen again.
          event.currentTarget.value = "";
          const path = name.value.normalize("NFKC").trim();
          fault.value = path === "" ? "" : (faultOfName(path) ?? "");
          if (fault.value !== "") return;
          name.value = "";
          void loadFiles(files, path);
        }}
      />
      <p class={fault.value === "" ? "quiet" : "fault"} role={fault.value === "" ? "note" : "alert"}>
        {fault.value || "Or drop .npy and CSV files on this page; on a variable, to replace its values."}
      </p>
    </form>
  );
}

function faultOfName(path: string): string | null {
  if (!NAME.test(path)) return path === "" ? "Type a name first." : "A name has letters, digits and _, and dots between members.";
  const isTaken = [...large.value.keys(), ...leavesOf(variables.value).map(([name]) => name)].some(
    (other) => other === path || other.startsWith(`${path}.`) || path.startsWith(`${other}.`),
  );
  return isTaken ? `There is ${path} already: change it above.` : null;
}

/** Add a variable; returns what is wrong with its value, if anything is. */
function addVariable(path: string, text: string): string | null {
  try {
    if (/^[a-z]\w*\s*\(/i.test(text)) setLarge(path, { kind: "generated", text, fault: null, leaf: generate(text) });
    else {
      const element = text === "" ? 0 : readElement(text, "float64");
      const fault = element === null ? faultOf(text) : null;
      if (fault !== null) return `A value is a number, a list such as [1, 2], or a formula such as normal(100, 3). Here: ${fault.message}`;
      setLeaf(path, element ?? (JSON.parse(text) as Json));
    }
    return null;
  } catch (error) {
    if (error instanceof FormulaError) return `The formula gives no values: ${error.message}.`;
    throw error;
  }
}

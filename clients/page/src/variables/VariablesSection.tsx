/** The variables: as controls, or as JSON text. Both are views of the same text. */

import { useSignal } from "@preact/signals";

import { VariablesEditor } from "../editor/VariablesEditor.tsx";
import { large } from "../model/document.ts";
import { leavesOf, variables, variablesFault } from "../model/variables.ts";
import { AddForm } from "./AddForm.tsx";
import { LargeRow } from "./LargeRow.tsx";
import { LeafRow } from "./LeafRow.tsx";
import { fileNotes, isDropping } from "./loading.ts";

/** More leaves are changed in the JSON text. */
const MOST_ROWS = 60;

const VIEWS = { controls: "Controls", json: "JSON" } as const;
type View = keyof typeof VIEWS;

export function VariablesSection() {
  const view = useSignal<View>("controls");
  return (
    <section class={isDropping.value ? "variables-section dropping" : "variables-section"} aria-label="Variables">
      <div class="heading">
        <h2>Variables</h2>
        <fieldset class="choice" aria-label="Show the variables as">
          {(Object.keys(VIEWS) as View[]).map((one) => (
            <label key={one}>
              <input type="radio" name="variables-view" checked={view.value === one} onChange={() => (view.value = one)} />
              {VIEWS[one]}
            </label>
          ))}
        </fieldset>
      </div>
      {fileNotes.value.length > 0 && (
        <div class={fileNotes.value.some((note) => note.isFault) ? "problem" : "note"} role="status">
          {fileNotes.value.map((note) => (
            <p key={note.text}>{note.text}</p>
          ))}
          <button type="button" onClick={() => (fileNotes.value = [])}>
            Close
          </button>
        </div>
      )}
      {/* The editor stays where it is, with its history, while the controls are shown. */}
      <div hidden={view.value !== "json"}>
        <VariablesEditor />
      </div>
      {view.value === "controls" && (variablesFault.value === null ? <Controls /> : <Fault onShow={() => (view.value = "json")} />)}
    </section>
  );
}

function Fault({ onShow }: { onShow: () => void }) {
  return (
    <div class="problem">
      <strong>The JSON text of the variables cannot be read</strong>
      <p>{variablesFault.value?.message}</p>
      <button type="button" onClick={onShow}>
        Show it
      </button>
    </div>
  );
}

function Controls() {
  const paths = [...large.value.keys()];
  /** A file or a formula stands in for the values of the text. */
  const isReplaced = (path: string) => paths.some((other) => other === path || other.startsWith(`${path}.`) || path.startsWith(`${other}.`));
  const leaves = leavesOf(variables.value).filter(([path]) => !isReplaced(path));
  return (
    <div class="controls">
      {leaves.slice(0, MOST_ROWS).map(([path, leaf]) => (
        <LeafRow key={path} path={path} leaf={leaf} canRemove={!/(^|\.)\d+(\.|$)/.test(path)} />
      ))}
      {leaves.length > MOST_ROWS && <p class="quiet">{leaves.length - MOST_ROWS} more are in the JSON text.</p>}
      {[...large.value].map(([path, variable]) => (
        <LargeRow key={path} path={path} variable={variable} />
      ))}
      {leaves.length + paths.length === 0 && <p class="quiet">There are none yet.</p>}
      <AddForm />
    </div>
  );
}

/** A variable that is made by a formula or read from a file. */

import { type Large, setLarge } from "../model/document.ts";
import { typeText } from "../answer/numbers.ts";
import { generated } from "./generate.ts";

export function LargeRow({ path, variable }: { path: string; variable: Large }) {
  const { leaf } = variable;
  const fault = variable.kind === "generated" ? variable.fault : null;
  return (
    <div class="variable" data-path={path}>
      <span class="name">{path}</span>
      <div class="control">
        {variable.kind === "generated" ? (
          <input
            type="text"
            autocomplete="off"
            spellcheck={false}
            aria-label={`${path}, formula`}
            aria-invalid={fault !== null}
            value={variable.text}
            onInput={(event) => setLarge(path, generated(event.currentTarget.value, leaf))}
          />
        ) : (
          <span class="file">
            {variable.name} <span class="quiet">is not part of the link</span>
          </span>
        )}
        {fault !== null && (
          <p class="fault" role="alert">
            {fault}
            {leaf !== null && "; until then the values are those of the last formula"}
          </p>
        )}
      </div>
      <span class="type">
        {leaf === null ? "no values" : typeText(leaf)}
        <button type="button" aria-label={`Remove ${path}`} title="Remove" onClick={() => setLarge(path, null)}>
          ✕
        </button>
      </span>
    </div>
  );
}

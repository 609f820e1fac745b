/** The gradient beside finite differences, by one click. */

import { useSignal } from "@preact/signals";

import { answer } from "../model/answer.ts";
import { ask, type Problem, ServiceError } from "../service/client.ts";
import type { JsonObject } from "../service/json.ts";
import { ProblemView } from "./ProblemView.tsx";
import { shortNumber } from "./numbers.ts";

interface Checked {
  readonly asked: JsonObject;
  readonly ok: boolean;
  readonly checks: { readonly [path: string]: { readonly ok: boolean; readonly error: number | string; readonly at: number[] | null } };
}

export function Check() {
  const checked = useSignal<Checked | null>(null);
  const problem = useSignal<Problem | null>(null);
  const asked = answer.value?.request;
  const compare = async () => {
    if (asked === undefined) return;
    try {
      const document = await ask("v1/check", asked);
      checked.value = { asked, ...document } as unknown as Checked;
      problem.value = null;
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      problem.value = error.problem;
    }
  };
  const shown = checked.value?.asked === asked ? checked.value : null;
  return (
    <div class="check">
      <button type="button" onClick={() => void compare()} disabled={asked === undefined}>
        Compare with finite differences
      </button>
      <div aria-live="polite">
        {problem.value !== null && <ProblemView problem={problem.value} />}
        {shown !== null && (
          <ul>
            {Object.entries(shown.checks).map(([path, { ok, error, at }]) => (
              <li key={path}>
                <span class={ok ? "agrees" : "differs"}>{ok ? "✓" : "✗"}</span> <code>{path}</code>{" "}
                {ok ? "agrees" : "differs"}: largest error {typeof error === "number" ? shortNumber(error) : error}
                {at !== null && at.length > 0 && ` at [${at.join(", ")}]`}
              </li>
            ))}
          </ul>
        )}
      </div>
    </div>
  );
}

/** The gradient beside finite differences, by one click. */

import { useSignal } from "@preact/signals";

import { answer } from "../model/answer.ts";
import { ask, type Problem, ServiceError } from "../service/client.ts";
import type { JsonObject } from "../service/json.ts";
import { ProblemView } from "./ProblemView.tsx";
import { shortNumber } from "./numbers.ts";

interface Checked {
  readonly checks: { readonly [path: string]: { readonly ok: boolean; readonly decided: boolean; readonly error: number | string; readonly at: number[] | null } };
}

/** A comparison of what was asked: another one has none yet. */
interface Comparison {
  readonly asked: JsonObject;
  /** Null while the service computes. */
  readonly outcome: Checked | Problem | null;
}

export function Check() {
  const comparison = useSignal<Comparison | null>(null);
  const asked = answer.value?.request;
  const compare = async () => {
    if (asked === undefined) return;
    const show = (outcome: Comparison["outcome"]) => (comparison.value = { asked, outcome });
    show(null);
    const isLast = () => comparison.value?.asked === asked;
    try {
      const document = await ask("v1/check", asked);
      if (isLast()) show(document as unknown as Checked);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      if (isLast()) show(error.problem);
    }
  };
  const own = comparison.value?.asked === asked ? comparison.value : null;
  const outcome = own?.outcome ?? null;
  const isComparing = own !== null && outcome === null;
  return (
    <div class="check">
      <button type="button" onClick={() => void compare()} disabled={asked === undefined || isComparing}>
        Compare with finite differences
      </button>
      <div aria-live="polite">
        {isComparing && <p class="quiet">Comparing…</p>}
        {outcome !== null && "code" in outcome && <ProblemView problem={outcome} />}
        {outcome !== null && "checks" in outcome && (
          <ul>
            {Object.entries(outcome.checks).map(([path, { ok, decided, error, at }]) => (
              <li key={path}>
                <span class={ok ? "agrees" : "differs"}>{ok ? "✓" : decided ? "✗" : "?"}</span> <code>{path}</code>{" "}
                {ok ? "agrees" : decided ? "differs" : "is undecided"}: largest error {typeof error === "number" ? shortNumber(error) : error}
                {at !== null && at.length > 0 && ` at [${at.join(", ")}]`}
                {!ok && !decided && <p class="quiet">Differences decide nothing at kinks and jumps, and where the function bends much within a step.</p>}
              </li>
            ))}
          </ul>
        )}
      </div>
    </div>
  );
}

/** The gradient beside finite differences, by one click. */

import { useSignal } from "@preact/signals";

import { type Answer, answer, type Leaf } from "../model/answer.ts";
import { ask, type Problem, ServiceError } from "../service/client.ts";
import type { JsonObject, Tree } from "../service/json.ts";
import { isTensor } from "../service/tensor.ts";
import { ProblemView } from "./ProblemView.tsx";
import { shortNumber } from "./numbers.ts";

interface Checked {
  readonly checks: { readonly [path: string]: { readonly ok: boolean; readonly error: number | string; readonly at: number[] | null; readonly step?: number } };
}

/**
 * Relative to the size of a variable, after the service's own: where a function bends much within
 * that, its differences are wrong, and not its gradient. Fewer digits than float64's have no room for them.
 */
const SHORTER_STEPS = [1e-6, 1e-8];

/** The check of a gradient, for each source by the first step at which it agrees. */
async function check(asked: JsonObject, isDouble: boolean): Promise<Checked> {
  let { checks } = (await ask("v1/check", asked)) as unknown as Checked;
  for (const step of isDouble ? SHORTER_STEPS : []) {
    if (Object.values(checks).every(({ ok }) => ok)) break;
    const shorter = (await ask("v1/check", { ...asked, step })) as unknown as Checked;
    const better = Object.entries(shorter.checks).filter(([path, { ok }]) => ok && !checks[path]?.ok);
    checks = { ...checks, ...Object.fromEntries(better.map(([path, found]) => [path, { ...found, step }])) };
  }
  return { checks };
}

function isDouble(shown: Answer | null): boolean {
  const dtypes = (tree: Tree<Leaf>): string[] =>
    isTensor(tree) ? [tree.dtype] : typeof tree === "object" && tree !== null ? Object.values(tree).flatMap(dtypes) : [];
  return shown !== null && dtypes([shown.value, shown.gradients]).every((dtype) => !/float(16|32)|complex64/.test(dtype));
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
      const checked = await check(asked, isDouble(answer.value));
      if (isLast()) show(checked);
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
            {Object.entries(outcome.checks).map(([path, { ok, error, at, step }]) => (
              <li key={path}>
                <span class={ok ? "agrees" : "differs"}>{ok ? "✓" : "✗"}</span> <code>{path}</code>{" "}
                {ok ? "agrees" : "differs"}: largest error {typeof error === "number" ? shortNumber(error) : error}
                {at !== null && at.length > 0 && ` at [${at.join(", ")}]`}
                {step !== undefined && `, by a relative step of ${shortNumber(step)}`}
                {!ok && <p class="quiet">Differences are wrong at kinks and jumps, and where the function bends much within a step.</p>}
              </li>
            ))}
          </ul>
        )}
      </div>
    </div>
  );
}

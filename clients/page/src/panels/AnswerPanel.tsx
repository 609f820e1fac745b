/** The answer: value, derivatives, and what is noteworthy of them. */

import { Check } from "../answer/Check.tsx";
import { InFull } from "../answer/InFull.tsx";
import { Nonfinite } from "../answer/Nonfinite.tsx";
import { ProblemView } from "../answer/ProblemView.tsx";
import { reasonsOf, TreeView } from "../answer/TreeView.tsx";
import { Waiting } from "../answer/Waiting.tsx";
import { type Warning, Warnings } from "../answer/Warnings.tsx";
import { answer, isAsking, isSlow, problem } from "../model/answer.ts";
import { keyWanted } from "../service/client.ts";

const TITLES = { gradient: "Gradients", jacobian: "Jacobian", hessian: "Hessian", evaluate: "" } as const;

export function AnswerPanel() {
  const shown = answer.value;
  const isOld = problem.value !== null || isSlow.value;
  return (
    <div class="answer" aria-busy={isAsking.value}>
      <Waiting isSlow={isSlow.value} />
      {problem.value !== null && !(keyWanted.value && problem.value.status === 401) && <ProblemView problem={problem.value} />}
      {shown === null ? (
        !isOld && <p class="quiet">Type a program: its value and gradients appear here.</p>
      ) : (
        <div class={isOld ? "old" : ""}>
          {isOld && <p class="quiet">The last answer:</p>}
          <section aria-label="Value">
            <h3>{shown.query === "evaluate" ? "Outputs" : "Value"}</h3>
            <TreeView tree={shown.value} reasons={{}} label="value" />
          </section>
          <Nonfinite document={shown.document["nonfinite"]} />
          <Warnings warnings={shown.document["warnings"] as unknown as Warning[] | undefined} />
          {shown.query !== "evaluate" && (
            <section aria-label={TITLES[shown.query]}>
              <h3>{TITLES[shown.query]}</h3>
              <TreeView tree={shown.derivatives} reasons={reasonsOf(shown.document)} label={TITLES[shown.query]} />
            </section>
          )}
          <p class="quiet time">answered in {shown.milliseconds.toFixed(0)} ms</p>
          {shown.query === "gradient" && <Check />}
          <InFull answer={shown} />
        </div>
      )}
    </div>
  );
}

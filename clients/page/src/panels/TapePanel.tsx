/** The tape: the program as a graph of values and adjoints, and the instructions that compute it. */

import { useEffect } from "preact/hooks";

import { ProblemView } from "../answer/ProblemView.tsx";
import { Waiting } from "../answer/Waiting.tsx";
import { Warnings } from "../answer/Warnings.tsx";
import { keyWanted } from "../service/client.ts";
import { explainChanges, explained } from "../tape/explained.ts";
import { Instructions } from "../tape/Instructions.tsx";
import { Sweeps } from "../tape/Sweeps.tsx";

export function TapePanel() {
  useEffect(explainChanges, []);
  const [shown, problem] = [explained.answer.value, explained.problem.value];
  const isOld = problem !== null || explained.isSlow.value;
  return (
    <div class="tape" aria-busy={explained.isAsking.value}>
      <Waiting isSlow={explained.isSlow.value} />
      {problem !== null && !(keyWanted.value && problem.status === 401) && <ProblemView problem={problem} />}
      {shown === null ? (
        !isOld && <p class="quiet">Type a program: its graph and its instructions appear here.</p>
      ) : (
        <div class={isOld ? "old" : ""}>
          {isOld && <p class="quiet">The last answer:</p>}
          <Warnings warnings={shown.warnings} />
          {shown.nodes !== null && <Sweeps nodes={shown.nodes} query={shown.query} />}
          <Instructions shown={shown} />
        </div>
      )}
    </div>
  );
}

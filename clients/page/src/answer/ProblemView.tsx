/** A problem: what is wrong, where, and what to do. */

import type { Problem } from "../service/client.ts";
import { PlaceLink } from "./TreeView.tsx";

export function ProblemView({ problem }: { problem: Problem }) {
  return (
    <div class="problem" role="alert">
      <strong>{problem.title}</strong> <PlaceLink place={problem.node} />
      <p>{problem.detail}</p>
      {problem.hint !== undefined && <p class="hint">{problem.hint}</p>}
      {problem.node === undefined && problem.pointer !== undefined && <p class="quiet">in {problem.pointer}</p>}
    </div>
  );
}

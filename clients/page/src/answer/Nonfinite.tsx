/** Where the first value that is not finite came from. */

import { isObject, type Json } from "../service/json.ts";
import type { Place } from "../service/client.ts";
import { shortNumber } from "./numbers.ts";
import { PlaceLink } from "./TreeView.tsx";

interface Report extends Place {
  readonly instruction: string;
  readonly operands: readonly { readonly min: number | null; readonly max: number | null; readonly nonfinite: number }[];
  readonly hint?: string;
}

const OF = { forward: "the value", backward: "the gradient" } as const;

export function Nonfinite({ document }: { document: Json | undefined }) {
  if (!isObject(document)) return null;
  const found = (["forward", "backward"] as const).filter((direction) => direction in document);
  return (
    <>
      {found.map((direction) => {
        const report = document[direction] as unknown as Report;
        const ranges = report.operands.map(({ min, max, nonfinite }) =>
          min === null || max === null
            ? "no finite number"
            : `${shortNumber(min)}${min === max ? "" : ` to ${shortNumber(max)}`}${nonfinite > 0 ? ` with ${nonfinite} not finite` : ""}`,
        );
        return (
          <div class="warning" role="status" key={direction}>
            <strong>Not finite in {OF[direction]}</strong> <PlaceLink place={report} />
            <p>
              It begins at <code>{report.op ?? report.id ?? report.instruction}</code>
              {ranges.length > 0 && `, of ${ranges.join(" and ")}`}.
            </p>
            {report.hint !== undefined && <p class="hint">{report.hint}</p>}
          </div>
        );
      })}
    </>
  );
}

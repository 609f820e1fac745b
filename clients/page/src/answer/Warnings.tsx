/** What is noteworthy of an answer, each with its place. */

import type { Place } from "../service/client.ts";
import { PlaceLink } from "./TreeView.tsx";

export interface Warning {
  readonly code: string;
  readonly detail: string;
  readonly node?: Place;
}

export function Warnings({ warnings }: { warnings: readonly Warning[] | undefined }) {
  return (
    <>
      {(warnings ?? []).map((warning, i) => (
        <div class="warning" role="status" key={i}>
          {warning.detail} <PlaceLink place={warning.node} />
        </div>
      ))}
    </>
  );
}

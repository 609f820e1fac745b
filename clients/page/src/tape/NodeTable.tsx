/** All nodes of the recorded program as a table: what the graph shows, and what it leaves out. */

import { useSignal } from "@preact/signals";

import { titlesOf } from "./drawing.ts";
import type { GraphNode } from "./explained.ts";
import { Rows } from "./Rows.tsx";
import { summaryText, typeText } from "./texts.ts";

export function NodeTable({ nodes }: { nodes: readonly GraphNode[] }) {
  const isOpen = useSignal(false);
  return (
    <details onToggle={(event) => (isOpen.value = event.currentTarget.open)}>
      <summary>All {nodes.length} nodes as a table</summary>
      {isOpen.value && <Table nodes={nodes} />}
    </details>
  );
}

function Table({ nodes }: { nodes: readonly GraphNode[] }) {
  const titles = titlesOf(nodes);
  return (
    <div class="wide" role="region" aria-label="Nodes" tabIndex={0}>
      <table class="listing">
        <thead>
          <tr>
            <th scope="col">node</th>
            <th scope="col">type</th>
            <th scope="col" class="count">line</th>
            <th scope="col">value</th>
            <th scope="col">adjoint</th>
          </tr>
        </thead>
        <Rows
          items={nodes}
          columns={5}
          pointing={({ place, slot }) => ({ place, slot })}
          row={(node) => ({
            cells: (
              <>
                <td class="code">{titles.get(node.slot)}</td>
                <td class="code quiet">{typeText(node)}</td>
                <td class="count">{node.place.line}</td>
                <td class="code value">{node.value === null ? "several results" : summaryText(node.value)}</td>
                <td class="code value adjoint">{node.adjoint === null ? "" : summaryText(node.adjoint)}</td>
              </>
            ),
          })}
        />
      </table>
    </div>
  );
}

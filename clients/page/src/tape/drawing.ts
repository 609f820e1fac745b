/** Which nodes of the recorded program are drawn, and what leads from one to another. */

import type { GraphNode } from "./explained.ts";
import { expression, fittedText, nodeName } from "./texts.ts";

/** More boxes than that are no picture. */
export const MOST_DRAWN = 60;

export interface Vertex {
  readonly node: GraphNode;
  readonly label: string;
  /** As `h = tanh(v₅)`, or its label. */
  readonly title: string;
  /** Slots of the drawn nodes that it is computed from. */
  readonly operands: readonly number[];
  /** Slots of the drawn nodes that are computed from it. */
  readonly readers: readonly number[];
}

export interface Drawing {
  /** Operands come first. */
  readonly vertices: ReadonlyMap<number, Vertex>;
  /** Whether only variables and named values are drawn, and edges stand for the operations between. */
  readonly isNamed: boolean;
}

/** Numbers of the program: they are written where they are used. */
function isNumber({ op, name, shape, value, is_target }: GraphNode): boolean {
  return op === "constant" && name === undefined && shape?.length === 0 && value !== null && !is_target;
}

/** All nodes, or if these are too many the named ones; null if these are, too. */
export function drawingOf(nodes: readonly GraphNode[]): Drawing | null {
  const isNamed = nodes.filter((node) => !isNumber(node)).length > MOST_DRAWN;
  const isDrawn = ({ name, is_source, is_target }: GraphNode) => name !== undefined || is_source || is_target;
  const drawn = new Set(nodes.filter((node) => (isNamed ? isDrawn(node) : !isNumber(node))).map(({ slot }) => slot));
  return drawn.size > MOST_DRAWN ? null : { vertices: verticesOf(nodes, drawn), isNamed };
}

function verticesOf(nodes: readonly GraphNode[], drawn: ReadonlySet<number>): ReadonlyMap<number, Vertex> {
  const titles = titlesOf(nodes);
  const isWritten = new Set(nodes.filter((node) => drawn.has(node.slot) || isNumber(node)).map(({ slot }) => slot));
  // The drawn nodes that a node that is not drawn is computed from.
  const behind = new Map<number, ReadonlySet<number>>();
  const vertices = new Map<number, Vertex & { readers: number[] }>();
  for (const node of nodes) {
    const operands = new Set(node.operands.flatMap((slot) => (drawn.has(slot) ? [slot] : [...(behind.get(slot) ?? [])])));
    if (!drawn.has(node.slot)) {
      behind.set(node.slot, operands);
      continue;
    }
    for (const slot of operands) vertices.get(slot)?.readers.push(node.slot);
    const label = nodeName(node);
    // An expression of nodes that are not drawn would say nothing.
    const title = (node.operands.every((slot) => isWritten.has(slot)) ? titles.get(node.slot) : undefined) ?? label;
    vertices.set(node.slot, { node, label, title, operands: [...operands], readers: [] });
  }
  return vertices;
}

/** What each node is and how it is computed, by slot. */
export function titlesOf(nodes: readonly GraphNode[]): ReadonlyMap<number, string> {
  const written = new Map<number, string>();
  return new Map(
    nodes.map((node) => {
      const label = nodeName(node);
      const operands = node.operands.map((slot) => written.get(slot) ?? `%${slot}`);
      written.set(node.slot, isNumber(node) && node.value !== null ? fittedText(node.value, 8) : label);
      if (node.op === "input") return [node.slot, label];
      const computed = node.op === "constant" && node.value !== null ? fittedText(node.value, 16) : expression(node, operands);
      return [node.slot, `${label} = ${computed}`];
    }),
  );
}

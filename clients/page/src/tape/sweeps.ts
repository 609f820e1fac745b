/** Reverse mode in steps: the values by a sweep forward, the adjoints by one backward. */

import type { Drawing, Vertex } from "./drawing.ts";

/** A sentence, with its names and expressions apart. */
export type Sentence = readonly (string | { readonly code: string })[];

export interface Step {
  readonly sweep: "forward" | "backward";
  /** The nodes that get their value, or their adjoint. */
  readonly slots: readonly number[];
  /** The nodes that these are computed from. */
  readonly from: readonly number[];
  readonly sentence: Sentence;
}

/** A template whose values are code. */
function say(texts: TemplateStringsArray, ...codes: readonly (string | Sentence)[]): Sentence {
  return texts.flatMap((text, i) => {
    const code = codes[i];
    return [text, ...(code === undefined ? [] : typeof code === "string" ? [{ code }] : code)];
  });
}

/** Longer lists end with the number of the others. */
const MOST_LISTED = 4;

/** As "a, b and c". */
function listed(names: readonly string[]): Sentence {
  const first = names.length <= MOST_LISTED ? names : names.slice(0, MOST_LISTED - 1);
  const rest = names.length - first.length;
  const between = (i: number) => (i === 0 ? [] : [i === first.length - 1 && rest === 0 ? " and " : ", "]);
  return [...first.flatMap((code, i) => [...between(i), { code }]), ...(rest === 0 ? [] : [` and ${rest} more`])];
}

/** All steps; after each of them more is shown, after the last one everything. */
export function stepsOf({ vertices, isNamed }: Drawing): readonly Step[] {
  const order = [...vertices.values()];
  const leaves = order.filter(({ operands }) => operands.length === 0);
  const computed = order.filter(({ operands }) => operands.length > 0);
  const passing = passingOf(order);
  const reached = order.filter(({ node }) => node.adjoint !== null).reverse();
  const name = (slot: number) => vertices.get(slot)?.label ?? "";
  const forward = computed.map((vertex): Step => ({
    sweep: "forward",
    slots: [vertex.node.slot],
    from: vertex.operands,
    sentence: say`Forward: ${vertex.title} is computed from ${listed(vertex.operands.map(name))}.`,
  }));
  const backward = reached.map((vertex): Step => {
    const from = vertex.readers.filter((slot) => passing.has(slot));
    const readers = from.flatMap((slot) => vertices.get(slot) ?? []);
    return { sweep: "backward", slots: [vertex.node.slot], from, sentence: backwardSentence(vertex, readers, isNamed) };
  });
  const first: Step = {
    sweep: "forward",
    slots: leaves.map(({ node }) => node.slot),
    from: [],
    sentence: ["Forward: the variables and constants have their values."],
  };
  return [first, ...forward, ...backward, { sweep: "backward", slots: [], from: [], sentence: lastSentence(order, reached) }];
}

/** Nodes that pass an adjoint on to their operands; several results have theirs each by itself. */
function passingOf(order: readonly Vertex[]): ReadonlySet<number> {
  const passing = new Set<number>();
  for (const { node, readers } of [...order].reverse())
    if (node.adjoint !== null || (node.dtype === null && readers.some((slot) => passing.has(slot)))) passing.add(node.slot);
  return passing;
}

function backwardSentence({ label, node }: Vertex, readers: readonly Vertex[], isNamed: boolean): Sentence {
  const own = node.is_target ? ofTarget(label, node.shape?.length === 0) : [];
  if (readers.length === 0) return node.is_target ? own : say`Backward: nothing passes an adjoint to ${label}.`;
  const between = isNamed ? ", through all operations between them" : "";
  const names = readers.map((reader) => reader.label);
  const [only] = readers.map((reader) => (isNamed ? reader.label : reader.title));
  const parts =
    readers.length === 1
      ? say`that of ${listed(names)} times the derivative of ${only ?? ""} with respect to ${label}${[between]}.`
      : say`a sum over ${listed(names)}: the adjoint of each times its derivative with respect to ${label}${[between]}.`;
  return node.is_target ? [...own, " Added to this is ", ...parts] : [...say`Backward: the adjoint of ${label} is `, ...parts];
}

function ofTarget(label: string, isNumber: boolean): Sentence {
  return isNumber
    ? say`Backward: ${label} is the target. Its derivative with respect to itself is 1.`
    : say`Backward: ${label} is the target. The derivative of the sum of its elements with respect to each of them is 1.`;
}

function lastSentence(order: readonly Vertex[], reached: readonly Vertex[]): Sentence {
  if (reached.length === 0) return ["All values are computed. There is no sweep backward, because no derivative is asked, or none exists."];
  const targets = order.filter(({ node }) => node.is_target).map(({ label }) => label);
  const sources = order.filter(({ node }) => node.is_source && node.adjoint !== null).map(({ label }) => label);
  const gradient = sources.length === 1 ? say` That of ${listed(sources)} is the gradient.` : say` Those of ${listed(sources)} are the gradient.`;
  return [...say`One sweep forward and one backward give the derivative of ${listed(targets)} with respect to each node with a ∂.`, ...(sources.length === 0 ? [] : gradient)];
}

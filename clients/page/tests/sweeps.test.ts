import assert from "node:assert/strict";
import { test } from "node:test";

import { drawingOf, MOST_DRAWN } from "../src/tape/drawing.ts";
import type { GraphNode } from "../src/tape/explained.ts";
import { type Sentence, stepsOf } from "../src/tape/sweeps.ts";
import { draws } from "../src/variables/generate.ts";

function node(slot: number, op: string, operands: number[], more: Partial<GraphNode> = {}): GraphNode {
  const [value, adjoint] = [{ value: slot }, { value: -slot }];
  return { slot, op, operands, dtype: "float64", shape: [], place: {}, value, adjoint, is_source: false, is_target: false, ...more };
}

const input = (slot: number, name: string) => node(slot, "input", [], { name, is_source: true });
const number = (slot: number, value: number) => node(slot, "constant", [], { value: { value }, adjoint: null });
const text = (sentence: Sentence) => sentence.map((part) => (typeof part === "string" ? part : part.code)).join("");

/** y = (x + 2) * x, with a decision on y that has no adjoint. */
const SMALL = [
  input(0, "x"),
  number(1, 2),
  node(2, "add", [0, 1]),
  node(3, "multiply", [2, 0], { name: "y", is_target: true }),
  node(4, "greater", [3, 1], { dtype: "bool", adjoint: null }),
];

/** A random program; every eighth node has a name. */
function random(seed: number, count: number): GraphNode[] {
  const { uniform } = draws(`sweeps ${seed}`);
  return Array.from({ length: count }, (_, slot) => {
    if (slot < 3) return input(slot, `x${slot}`);
    const operands = [slot - 1, Math.floor(uniform() * slot)];
    return node(slot, "add", operands, { is_target: slot === count - 1, ...(slot % 8 === 0 ? { name: `n${slot}` } : {}) });
  });
}

test("the sentences say what is computed from what", () => {
  const steps = stepsOf(drawingOf(SMALL)!);
  assert.deepEqual(steps.map(({ sentence }) => text(sentence)), [
    "Forward: the variables and constants have their values.",
    "Forward: v₂ = x + 2 is computed from x.",
    "Forward: y = v₂ · x is computed from v₂ and x.",
    "Forward: v₄ = y > 2 is computed from y.",
    "Backward: y is the target. Its derivative with respect to itself is 1.",
    "Backward: the adjoint of v₂ is that of y times the derivative of y = v₂ · x with respect to v₂.",
    "Backward: the adjoint of x is a sum over v₂ and y: the adjoint of each times its derivative with respect to x.",
    "One sweep forward and one backward give the derivative of y with respect to each node with a ∂. That of x is the gradient.",
  ]);
});

test("values come after those that they are computed from, adjoints after those of all readers", () => {
  for (let seed = 0; seed < 40; seed += 1) {
    const nodes = random(seed, 4 + 2 * seed);
    const drawing = drawingOf(nodes)!;
    const seen = { forward: new Set<number>(), backward: new Set<number>() };
    for (const { sweep, slots, from } of stepsOf(drawing)) {
      for (const slot of from) assert.ok(seen[sweep].has(slot));
      for (const slot of slots) {
        const { operands, readers } = drawing.vertices.get(slot)!;
        assert.deepEqual(new Set(from), new Set(sweep === "forward" ? operands : readers));
        assert.ok(!seen[sweep].has(slot));
        seen[sweep].add(slot);
      }
    }
    for (const sweep of ["forward", "backward"] as const) assert.deepEqual([...seen[sweep]].sort(), [...drawing.vertices.keys()].sort());
  }
});

test("without adjoints there is no sweep backward", () => {
  const steps = stepsOf(drawingOf(SMALL.map((one) => ({ ...one, adjoint: null })))!);
  assert.equal(steps.filter(({ sweep, slots }) => sweep === "backward" && slots.length > 0).length, 0);
  assert.match(text(steps.at(-1)!.sentence), /no sweep backward/);
});

test("an adjoint goes through what has several results", () => {
  const several = { dtype: null, shape: null, value: null, adjoint: null };
  const loop = [input(0, "x"), node(1, "loop", [0], several), node(2, "item", [1], { is_target: true })];
  const lit = stepsOf(drawingOf(loop)!).filter(({ sweep, slots }) => sweep === "backward" && slots.includes(0));
  assert.deepEqual(lit[0]?.from, [1]);
});

test("numbers of the program are written where they are used, unless they are the target", () => {
  assert.deepEqual([...drawingOf(SMALL)!.vertices.keys()], [0, 2, 3, 4]);
  assert.deepEqual([...drawingOf([{ ...number(0, 2), is_target: true }])!.vertices.keys()], [0]);
});

test("of a long program the named values are drawn, joined through those between", () => {
  const nodes = random(7, 300);
  const { vertices, isNamed } = drawingOf(nodes)!;
  assert.ok(isNamed && vertices.size <= MOST_DRAWN);
  const isDrawn = (slot: number) => slot < 3 || slot % 8 === 0 || slot === 299;
  assert.deepEqual([...vertices.keys()], nodes.map(({ slot }) => slot).filter(isDrawn));
  for (const { node: { slot }, operands } of vertices.values()) {
    const reached = new Set<number>();
    const search = (at: number): void => nodes[at]?.operands.forEach((one) => (isDrawn(one) ? reached.add(one) : search(one)));
    search(slot);
    assert.deepEqual(new Set(operands), reached);
  }
});

test("too many named values are not drawn", () => {
  assert.notEqual(drawingOf(Array.from({ length: MOST_DRAWN }, (_, slot) => input(slot, `x${slot}`))), null);
  assert.equal(drawingOf(Array.from({ length: MOST_DRAWN + 1 }, (_, slot) => input(slot, `x${slot}`))), null);
});

test("an expression has drawn operands only", () => {
  for (const { node, title, label } of drawingOf(random(7, 300))!.vertices.values())
    assert.equal(title !== label, node.op !== "input" && node.operands.every((slot) => slot < 3 || slot % 8 === 0));
});

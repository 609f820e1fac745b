import assert from "node:assert/strict";
import { test } from "node:test";

import type { Answer, Leaf } from "../src/model/answer.ts";
import { barsOf } from "../src/plots/bars.ts";
import { elementName, namedLeaves } from "../src/plots/elements.ts";
import { countsOf, matrixOf, nameAt, NoMatrix, pooled } from "../src/plots/matrix.ts";
import type { Json, Tree } from "../src/service/json.ts";
import type { Tensor } from "../src/service/tensor.ts";

const tensor = (data: number[], ...shape: number[]): Tensor => ({ dtype: "float64", shape, data: Float64Array.from(data) });

const answered = (query: Answer["query"], sources: Json | undefined, parts: Partial<Answer>): Answer => ({
  query,
  request: sources === undefined ? {} : { sources },
  document: {},
  value: tensor([0]),
  derivatives: null,
  gradients: null,
  milliseconds: 0,
  ...parts,
});

test("arrays have their variables' names whatever the sources' structure", () => {
  const tree: Tree<Leaf> = { first: { w: tensor([1, 2], 2), b: null }, rest: [tensor([3]), null] };
  const named = namedLeaves({ first: "layer", rest: ["x[0].y", null] }, tree);
  const shown = named.map(({ name, keys, tensor: one }) => [name, keys.join("/"), one?.data[0] ?? null]);
  assert.deepEqual(shown, [["layer.w", "first/w", 1], ["layer.b", "first/b", null], ["x.0.y", "rest/0", 3]]);
  const sparse = { a: { indices: tensor([0], 1, 1), values: tensor([5], 1), shape: tensor([3], 1) } };
  assert.deepEqual(namedLeaves(undefined, sparse).map(({ name }) => name), ["a.values"]);
});

test("elements are named by their indices", () => {
  assert.deepEqual([0, 1, 5].map((index) => elementName("w", [2, 3], index)), ["w[0, 0]", "w[0, 1]", "w[1, 2]"]);
  assert.equal(elementName("b", [], 0), "b");
});

test("bars are the largest of all elements, in order", () => {
  let state = 1;
  const draw = () => ((state = (state * 16807) % 2147483647) / 2147483647 - 0.5) * 20;
  const data = Array.from({ length: 3000 }, draw);
  data[17] = NaN;
  const arrays = { x: tensor(data, 3000), n: null, b: tensor([-30]) };
  const { shown, others, missing } = barsOf(namedLeaves(undefined, arrays));
  const sorted = data.map(Math.abs).filter(Number.isFinite).sort((a, b) => b - a);
  assert.deepEqual(shown.slice(0, 2).map(({ name, sign }) => [name, sign]), [["x[17]", 0], ["b", -1]]);
  assert.deepEqual(shown.slice(2).map(({ size }) => size), sorted.slice(0, 38));
  assert.deepEqual(others, { count: 3001 - 40, largest: sorted[38] });
  assert.deepEqual(missing, ["n"]);
});

test("a Hessian is one matrix of its blocks", () => {
  const gradients = { x: tensor([1, 2], 2), n: null, y: tensor([3]) };
  const derivatives = {
    x: { x: tensor([1, 2, 2, 3], 2, 2), n: null, y: tensor([4, 5], 2) },
    n: { x: null, n: null, y: null },
    y: { x: tensor([4, 5], 2), n: null, y: tensor([0]) },
  };
  const matrix = matrixOf(answered("hessian", undefined, { gradients, derivatives }));
  assert.deepEqual([...matrix.values], [1, 2, 4, 2, 3, 5, 4, 5, 0]);
  assert.deepEqual([0, 1, 2].map((row) => nameAt(matrix.rows, row)), ["x[0]", "x[1]", "y"]);
  assert.deepEqual(countsOf(matrix), { zeros: 1, nonfinite: 0, largest: 5 });
  const alone = matrixOf(answered("hessian", "x", { gradients: tensor([1, 2], 2), derivatives: tensor([1, 0, 0, 1], 2, 2) }));
  assert.equal(countsOf(alone).zeros, 2);
});

test("a Jacobian has a row for each element of the target", () => {
  const derivatives = [tensor([1, 2, 3, 4, 5, 6, 7, 8], 2, 2, 2), tensor([9, 10, 11, 12], 2, 2), null];
  const matrix = matrixOf(answered("jacobian", ["w", "b", "n"], { value: tensor([0, 0, 0, 0], 2, 2), derivatives }));
  assert.deepEqual([matrix.height, matrix.width], [4, 3]);
  assert.deepEqual([...matrix.values], [1, 2, 9, 3, 4, 10, 5, 6, 11, 7, 8, 12]);
  assert.deepEqual([nameAt(matrix.rows, 2), nameAt(matrix.columns, 1), nameAt(matrix.columns, 2)], ["value[1, 0]", "w[1]", "b"]);
});

test("what is no matrix says why", () => {
  const gradients = tensor([1]);
  const complex = { ...tensor([1]), imag: Float64Array.of(1) };
  assert.throws(() => matrixOf(answered("hessian", "x", { gradients: null })), NoMatrix);
  assert.throws(() => matrixOf(answered("hessian", "x", { gradients, derivatives: complex })), /Complex/);
  assert.throws(() => matrixOf(answered("jacobian", "x", { value: [tensor([1])], derivatives: gradients })), /one array/);
});

test("no element but zeros disappears from a small picture", () => {
  const values = new Float64Array(100 * 90);
  for (let i = 0; i < 90; i += 1) values[i * 90 + i] = i % 2 ? 1 : -2;
  values[95 * 90 + 3] = NaN;
  const small = pooled({ rows: [], columns: [], height: 100, width: 90, values }, 32);
  assert.deepEqual([small.height, small.width], [25, 30]);
  for (let i = 0; i < 90; i += 1) {
    const held = small.values[Math.floor(i / 4) * 30 + Math.floor(i / 3)]!;
    assert.ok(i % 2 ? held !== 0 : held === -2);
  }
  assert.ok(Number.isNaN(small.values[23 * 30 + 1]));
  const whole = pooled({ rows: [], columns: [], height: 100, width: 90, values }, 100);
  assert.equal(whole.values, values);
});

import assert from "node:assert/strict";
import { test } from "node:test";

import { jsonOf } from "../src/service/json.ts";
import { compact, leavesOf, readVariables, withLeaf, withoutLeaf } from "../src/model/variables.ts";

const NESTED = { layer: { w: [[1, 2], [3, 4]], parts: [{ b: 1 }, { b: [2] }] }, c: { re: 1, im: 2 }, "m.value": true };

test("leaves have dotted paths", () => {
  assert.deepEqual(leavesOf(NESTED).map(([path]) => path), ["layer.w", "layer.parts.0.b", "layer.parts.1.b", "c", "m.value"]);
});

test("one leaf changes and nothing else", () => {
  for (const [path] of leavesOf(NESTED)) {
    const changed = withLeaf(NESTED, path, 7);
    const others = (leaves: [string, unknown][]) => leaves.filter(([name]) => name !== path);
    assert.deepEqual(others(leavesOf(changed)), others(leavesOf(NESTED)));
    assert.equal(leavesOf(changed).find(([name]) => name === path)?.[1], 7);
  }
});

test("compact text means the same", () => {
  for (const value of [NESTED, {}, { x: [] }, { s: "a\n\"b\"", t: { value: [1], dtype: "int64" } }])
    assert.deepEqual(JSON.parse(compact(value)), value);
});

test("the sign of zero stays", () => {
  const value = { x: [-0, 0], y: -0 };
  for (const text of [compact(value), jsonOf(value)]) assert.deepEqual(JSON.parse(text), value);
});

test("what is no object is refused", () => {
  assert.deepEqual(readVariables("  "), { variables: {} });
  for (const text of ["[1]", "3", "null", '{"x": }', '{"x": 1']) assert.ok("fault" in readVariables(text), text);
});

test("a leaf on the way to another becomes a nesting level", () => {
  assert.deepEqual(withLeaf({ x: 3, y: [1] }, "x.a", 1), { x: { a: 1 }, y: [1] });
  assert.deepEqual(withLeaf({ x: { value: 3 } }, "x.a", 1), { x: { a: 1 } });
  assert.deepEqual(withLeaf({ x: { b: 2 } }, "x.a", 1), { x: { b: 2, a: 1 } });
});

test("one leaf is removed and nothing else", () => {
  assert.deepEqual(withoutLeaf({ x: { a: 1, b: 2 }, y: 3, "m.n": 4 }, "x.a"), { x: { b: 2 }, y: 3, "m.n": 4 });
  assert.deepEqual(withoutLeaf({ x: 1, "m.n": 4 }, "m.n"), { x: 1 });
  assert.deepEqual(withoutLeaf({ x: [1] }, "x.0"), { x: [1] });
});

test("nesting without end is refused", () => {
  const nested = (levels: number) => `{"x": ${"[".repeat(levels)}1${"]".repeat(levels)}}`;
  assert.ok("variables" in readVariables(nested(64)));
  for (const levels of [200, 20_000]) assert.ok("fault" in readVariables(nested(levels)));
});

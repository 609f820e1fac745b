import assert from "node:assert/strict";
import { test } from "node:test";

import { type Box, BOX_HEIGHT, type Layout, layoutOf, type Place } from "../src/tape/layout.ts";
import { draws } from "../src/variables/generate.ts";

/** A program of `count` boxes that each have up to three operands, drawn with a seed. */
function randomBoxes(seed: number, count: number): Box[] {
  const { uniform } = draws(`layout ${seed}`);
  return Array.from({ length: count }, (_, key) => {
    const operands = Array.from({ length: key === 0 ? 0 : Math.floor(uniform() * 4) }, () => Math.floor(uniform() * key));
    const end = uniform() < 0.1 ? { end: "last" as const } : operands.length === 0 && uniform() < 0.5 ? { end: "first" as const } : {};
    return { key: key * 3, width: 60 + Math.floor(uniform() * 100), operands: operands.map((one) => one * 3), ...end };
  });
}

const DENSE = Array.from({ length: 40 }, (_, key): Box => ({ key, width: 80, operands: Array.from({ length: key }, (_, i) => i) }));
const CHAIN = Array.from({ length: 60 }, (_, key): Box => ({ key, width: 80, operands: key === 0 ? [] : [key - 1] }));
const CASES: (readonly Box[])[] = [[], DENSE, CHAIN, ...Array.from({ length: 60 }, (_, seed) => randomBoxes(seed, 1 + seed))];

const placeOf = (layout: Layout, key: number) => layout.places.get(key) as Place;

test("every box has its place, and none overlaps another or leaves the drawing", () => {
  for (const boxes of CASES) {
    const layout = layoutOf(boxes);
    assert.deepEqual([...layout.places.keys()].sort((a, b) => a - b), boxes.map(({ key }) => key));
    assert.deepEqual(layout.layers.flat().sort((a, b) => a - b), boxes.map(({ key }) => key));
    for (const { x, y, width } of layout.places.values())
      assert.ok(x - width / 2 >= 0 && x + width / 2 <= layout.width && y >= 0 && y + BOX_HEIGHT <= layout.height);
    for (const row of layout.layers)
      for (const [i, key] of row.slice(1).entries()) {
        const [left, right] = [placeOf(layout, row[i] as number), placeOf(layout, key)];
        assert.equal(left.y, right.y);
        assert.ok(left.x + left.width / 2 < right.x - right.width / 2);
      }
    const tops = layout.layers.map((row) => placeOf(layout, row[0] as number).y);
    for (const [i, top] of tops.slice(1).entries()) assert.ok(top >= (tops[i] as number) + BOX_HEIGHT);
  }
});

test("there is one edge from each operand, and it goes down all the way", () => {
  for (const boxes of CASES) {
    const layout = layoutOf(boxes);
    const wanted = boxes.flatMap(({ key, operands }) => [...new Set(operands)].map((one) => `${one} ${key}`));
    assert.deepEqual(layout.edges.map(({ from, to }) => `${from} ${to}`).sort(), wanted.sort());
    for (const { from, to, points } of layout.edges) {
      const [start, end] = [placeOf(layout, from), placeOf(layout, to)];
      assert.deepEqual(points[0], [start.x, start.y + BOX_HEIGHT]);
      const [x, y] = points.at(-1) as [number, number];
      assert.equal(y, end.y);
      assert.ok(Math.abs(x - end.x) <= end.width / 2);
      for (const [i, [, below]] of points.slice(1).entries()) assert.ok((points[i]?.[1] as number) < below);
    }
  }
});

test("no edge runs through a box", () => {
  for (const boxes of CASES) {
    const layout = layoutOf(boxes);
    for (const { points } of layout.edges)
      for (const [i, [x, top]] of points.entries()) {
        if (i === 0 || i === points.length - 1 || i % 2 === 0) continue;
        // From an odd point to the next it is a line past a layer; between layers there are no boxes.
        assert.equal(points[i + 1]?.[0], x);
        const row = [...layout.places.values()].filter(({ y }) => y === top);
        assert.ok(row.length > 0);
        for (const place of row) assert.ok(Math.abs(place.x - x) > place.width / 2);
      }
  }
});

test("sources are in the first layer, targets in the last, other leaves beside what reads them", () => {
  for (const boxes of CASES) {
    const layout = layoutOf(boxes);
    const readers = (key: number) => boxes.filter(({ operands }) => operands.includes(key)).map((box) => placeOf(layout, box.key).layer);
    for (const { key, operands, end } of boxes) {
      const { layer } = placeOf(layout, key);
      const read = readers(key);
      if (end === "last" && read.length === 0) assert.equal(layer, layout.layers.length - 1);
      else if (operands.length > 0) assert.equal(layer, 1 + Math.max(...operands.map((one) => placeOf(layout, one).layer)));
      else if (end === "first" || read.length === 0) assert.equal(layer, 0);
      else assert.equal(layer, Math.min(...read) - 1);
    }
  }
});

test("edges that need not cross do not", () => {
  const count = 12;
  const sources = Array.from({ length: count }, (_, key): Box => ({ key, width: 80, operands: [] }));
  const readers = sources.map(({ key }): Box => ({ key: count + key, width: 80, operands: [(5 * key) % count] }));
  const ends = layoutOf([...sources, ...readers]).edges.map(({ points }) => [points[0]?.[0] ?? 0, points.at(-1)?.[0] ?? 0] as const);
  for (const [a, b] of ends) for (const [c, d] of ends) assert.ok((a - c) * (b - d) >= 0);
});

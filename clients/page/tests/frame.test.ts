import assert from "node:assert/strict";
import { test } from "node:test";

import { acrossOf, curvePath, downOf, gapsOf, lineOf, numbersAt, pathOf, ticksOf } from "../src/plots/frame.ts";
import { around, contains, rangeOfValues, rounded, spaced, zoomed } from "../src/plots/range.ts";

const FRAME = { width: 500, height: 300, x: { from: -2, to: 3 }, y: { from: 10, to: 1000 } };

test("pixels and numbers are each other's inverses, y upwards", () => {
  for (const [x, y] of [[-2, 10], [3, 1000], [0.25, 77]] as const) {
    const [again, up] = numbersAt(FRAME, acrossOf(FRAME, x), downOf(FRAME, y));
    assert.ok(Math.abs(again - x) < 1e-12 && Math.abs(up - y) < 1e-9);
  }
  assert.ok(downOf(FRAME, 1000) < downOf(FRAME, 10));
});

test("ticks are round, within the range and not crowded", () => {
  for (const range of [{ from: -3.6, to: 1.2 }, { from: 1e-7, to: 3e-7 }, { from: -4e12, to: 5 }]) {
    const ticks = ticksOf(range, 400, 80);
    assert.ok(ticks.length >= 2 && ticks.length <= 9, String(ticks));
    for (const tick of ticks) {
      assert.ok(contains(range, tick));
      assert.ok(Number(tick.toPrecision(3)) === Number(tick.toPrecision(10)));
    }
  }
});

test("a range is around its number and ends where it says", () => {
  assert.deepEqual(around(-1.2), { from: -1.2 - 2.4, to: -1.2 + 2.4 });
  assert.deepEqual(around(0), { from: -2, to: 2 });
  assert.deepEqual(around(NaN), { from: -2, to: 2 });
  const range = zoomed({ from: 0, to: 8 }, 6, 0.5);
  assert.deepEqual(range, { from: 4, to: 8 });
  const places = spaced({ from: 0.1, to: 0.7 }, 7);
  assert.equal(places[6], 0.7);
  assert.equal(places.length, 7);
  let small = around(5);
  for (let i = 0; i < 200; i += 1) small = zoomed(small, 5, 0.5);
  assert.ok(small.from < 5 && 5 < small.to);
});

test("a moved number has a picture's digits and stays within", () => {
  assert.equal(rounded(0.123456789, { from: -2, to: 2 }), 0.12);
  assert.equal(rounded(1234.567, { from: 0, to: 4000 }), 1230);
  assert.equal(rounded(9, { from: -2, to: 2 }), 2);
});

test("a pole does not flatten the rest of the curve", () => {
  const range = { from: -1, to: 3 };
  const pole = spaced(range, 201).map((x) => 1 / (x - 1.001));
  const shown = rangeOfValues(pole)!;
  assert.ok(shown.to < 30 && shown.from > -30 && shown.to > 2, JSON.stringify(shown));
  const squares = rangeOfValues(spaced(range, 201).map((x) => x * x))!;
  assert.ok(contains(squares, 0) && contains(squares, 9));
  assert.equal(rangeOfValues([NaN, Infinity]), null);
  // Two strokes: the jump from far below to far above is none.
  assert.equal(curvePath({ ...FRAME, x: range, y: shown }, pole).match(/M/g)?.length, 2);
});

test("a line ends where the frame ends, with its slope", () => {
  for (const slope of [0, 1e-9, -3, 200, -1e12]) {
    const { x1, y1, x2, y2 } = lineOf(FRAME, [0.5, 400], slope);
    for (const [across, down] of [[x1, y1], [x2, y2]] as const) {
      const [x, y] = numbersAt(FRAME, across, down);
      assert.ok(x >= -2.0001 && x <= 3.0001 && y > 9.9 && y < 1000.1, `${slope}: ${x}, ${y}`);
      assert.ok(Math.abs(y - 400 - slope * (x - 0.5)) < 1 || Math.abs(slope) > 1e9);
    }
    assert.ok(x1 < x2 || Math.abs(slope) > 1e9);
  }
});

test("paths are broken at what is not finite, and gaps say where", () => {
  assert.equal(pathOf([[0, 0], [1, 2], [NaN, 0], [3, 4]]), "M0.0 0.0L1.0 2.0M3.0 4.0");
  assert.deepEqual(gapsOf({ from: 0, to: 4 }, Float64Array.of(NaN, 1, 2, -Infinity, NaN)), [{ from: 0, to: 0.5 }, { from: 2.5, to: 4 }]);
  assert.deepEqual(gapsOf({ from: 0, to: 1 }, Float64Array.of(1, 2)), []);
});

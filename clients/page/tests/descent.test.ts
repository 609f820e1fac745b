import assert from "node:assert/strict";
import { test } from "node:test";

import { levelsOf } from "../src/plots/contours.ts";
import { descend, type Point } from "../src/plots/descent.ts";
import { curveAt, Surface } from "../src/plots/interpolation.ts";
import { contains, type Range, spaced } from "../src/plots/range.ts";

type Of = (x: number, y: number) => number;

function surfaceOf(x: Range, y: Range, f: Of, gradient: readonly [Of, Of] | null, count = 41): Surface {
  const [xs, ys] = [spaced(x, count), spaced(y, count)];
  const sample = (of: Of) => Float64Array.from({ length: count * count }, (_, i) => of(xs[i % count]!, ys[Math.floor(i / count)]!));
  return new Surface(x, y, count, sample(f), gradient && [sample(gradient[0]), sample(gradient[1])]);
}

const close = (got: number, expected: number, tolerance: number) => assert.ok(Math.abs(got - expected) <= tolerance, `${got} is not ${expected}`);

const X = { from: -3.6, to: 1.2 };
const Y = { from: -1, to: 3 };
const rosenbrock = () =>
  surfaceOf(X, Y, (x, y) => (1 - x) ** 2 + 100 * (y - x * x) ** 2, [(x, y) => 2 * (x - 1) - 400 * x * (y - x * x), (x, y) => 200 * (y - x * x)]);

test("cubics come back between their samples, with their slopes", () => {
  const range = { from: -1, to: 2 };
  const xs = spaced(range, 5);
  for (const x of [-1, -0.3, 0.777, 2]) {
    const { value, slope } = curveAt(range, xs.map((at) => at ** 3 - at), xs.map((at) => 3 * at ** 2 - 1), x);
    close(value, x ** 3 - x, 1e-12);
    close(slope, 3 * x ** 2 - 1, 1e-12);
  }
  // Without slopes by differences, which are exact for squares.
  close(curveAt(range, xs.map((at) => at * at), null, 0.9).slope, 1.8, 1e-12);
});

test("a surface has its function's derivatives up to the second", () => {
  const surface = surfaceOf(X, Y, (x, y) => x ** 3 * y - y ** 3 + x * y, [(x, y) => 3 * x * x * y + y, (x, y) => x ** 3 - 3 * y * y + x]);
  for (const [x, y] of [[0.123, 0.456], [-2.01, 1.9], [-3.6, -1], [1.2, 3]] as const) {
    const { f, fx, fy, fxx, fyy } = surface.at(x, y);
    close(f, x ** 3 * y - y ** 3 + x * y, 2e-3);
    close(fx, 3 * x * x * y + y, 5e-2);
    close(fy, x ** 3 - 3 * y * y + x, 5e-2);
    close(fxx, 6 * x * y, 0.5);
    close(fyy, -6 * y, 0.5);
  }
});

test("a surface is there right up to values that are not finite", () => {
  const surface = surfaceOf({ from: -1, to: 1 }, { from: -1, to: 1 }, (x) => (x < 0 ? NaN : x), [(x) => (x < 0 ? NaN : 1), (x) => (x < 0 ? NaN : 0)]);
  close(surface.at(0.001, 0.3).f, 0.001, 1e-12);
  assert.ok(Number.isNaN(surface.at(-0.001, 0.3).f));
});

test("a surface does not overshoot beside a pole", () => {
  const [across, up] = [{ from: -1.2, to: 3.6 }, { from: -0.8, to: 2.4 }];
  const of: Of = (x, y) => Math.log(x * y + 1);
  const surface = surfaceOf(across, up, of, [(x, y) => y / (x * y + 1), (x, y) => x / (x * y + 1)]);
  for (const x of spaced(across, 161))
    for (const y of spaced(up, 161)) {
      const [value, truth] = [surface.valueAt(x, y), of(x, y)];
      if (Number.isFinite(value) && Number.isFinite(truth)) assert.ok(value < truth + 1, `${x}, ${y}: ${value}, not ${truth}`);
    }
});

test("the descent in a bowl ends at its minimum, from everywhere", () => {
  const height: Of = (x, y) => (x - 1) ** 2 + ((y - 50) / 60) ** 2 / 2;
  const bowl = surfaceOf({ from: -2, to: 3 }, { from: -100, to: 200 }, height, [(x) => 2 * (x - 1), (_, y) => (y - 50) / 3600]);
  for (const start of [[-1.9, -90], [2.9, 190], [1, 50], [-2, 200], [0, 0]] as const) {
    const { path, end } = descend(bowl, start);
    assert.equal(end, "rest");
    const [x, y] = path.at(-1)!;
    close(x, 1, 0.01);
    close(y, 50, 0.6);
  }
});

test("the descent follows Rosenbrock's valley to its minimum", () => {
  const surface = rosenbrock();
  const { path, end } = descend(surface, [-1.2, 1.0]);
  assert.equal(end, "rest");
  const [x, y] = path.at(-1)!;
  close(x, 1, 0.03);
  close(y, 1, 0.05);
  // Along the valley's floor, not to and fro across it: past the first steps y is about x².
  const valley = path.slice(Math.floor(path.length / 4));
  for (const [a, b] of valley) close(b, a * a, 0.06);
});

test("each step goes downhill, is short, and stays in the picture but for the last", () => {
  const surface = rosenbrock();
  for (const start of spaced({ from: 0.02, to: 0.98 }, 9)) {
    const from: Point = [X.from + start * (X.to - X.from), Y.to - start * start * (Y.to - Y.from)];
    const { path, end } = descend(surface, from);
    path.slice(1).forEach(([x, y], i) => {
      const [a, b] = path[i]!;
      assert.ok(Math.hypot((x - a) / (X.to - X.from), (y - b) / (Y.to - Y.from)) < 0.011);
      if (end === "edge" && i === path.length - 2) return;
      assert.ok(contains(X, x) && contains(Y, y));
      assert.ok(surface.at(x, y).f <= surface.at(a, b).f);
    });
  }
});

test("a plane is left at the edge, and a hole's border is an end", () => {
  const square = { from: -1, to: 1 };
  assert.equal(descend(surfaceOf(square, square, (x) => x, [() => 1, () => 0]), [0, 0]).end, "edge");
  const holed = surfaceOf(square, square, (x) => (x < -0.5 ? NaN : x), [(x) => (x < -0.5 ? NaN : 1), () => 0]);
  const { path, end } = descend(holed, [0.5, 0.2]);
  assert.equal(end, "nonfinite");
  close(path.at(-1)![0], -0.5, 0.06);
  assert.equal(descend(holed, [-0.9, 0]).end, "nonfinite");
  assert.deepEqual(descend(surfaceOf(square, square, () => 3, [() => 0, () => 0]), [0, 0]), { path: [[0, 0]], end: "rest" });
});

test("levels rise, and a constant has none", () => {
  const levels = levelsOf(Float64Array.from({ length: 1000 }, (_, i) => (i % 7 === 0 ? NaN : i ** 2)));
  assert.equal(levels.length, 11);
  assert.deepEqual([...levels].sort((a, b) => a - b), levels);
  assert.deepEqual(levelsOf(Float64Array.of(2, 2, 2)), []);
  assert.deepEqual(levelsOf(Float64Array.of(NaN)), []);
});

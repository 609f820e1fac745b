/** The path of steepest descent on a surface. */

import type { Surface } from "./interpolation.ts";
import { contains } from "./range.ts";

export type Point = readonly [x: number, y: number];

export interface Descent {
  readonly path: readonly Point[];
  /** Whether it comes to rest, reaches the edge, or meets values that are not finite. */
  readonly end: "rest" | "edge" | "nonfinite";
}

/** The longest step, in parts of the picture's sides. */
const LONGEST_STEP = 0.01;
const SHORTEST_STEP = 1e-6;
const MOST_STEPS = 800;
const MOST_TRIES = 40;

/**
 * The solution of `dp/dτ = −∇f(p)` from `start` to where it comes to rest or leaves the surface.
 *
 * Steps are linearly implicit, `(I + h H) d = −h ∇f` with the Hessian H: explicit ones would zigzag
 * in a narrow valley. Source: Hairer and Wanner, Solving Ordinary Differential Equations II, IV.7.
 */
export function descend(surface: Surface, start: Point): Descent {
  const [width, height] = [surface.x.to - surface.x.from, surface.y.to - surface.y.from];
  const path: Point[] = [start];
  let [x, y] = start;
  let here = surface.at(x, y);
  let h = 0;
  for (let steps = 0; steps < MOST_STEPS; steps += 1) {
    const { f, fx, fy, fxx, fxy, fyy } = here;
    if (![f, fx, fy, fxx, fxy, fyy].every(Number.isFinite)) return { path, end: "nonfinite" };
    const speed = Math.hypot(fx / width, fy / height);
    if (speed === 0) return { path, end: "rest" };
    h ||= LONGEST_STEP / speed;
    let length = 0;
    for (let tries = 0; ; tries += 1, h /= 4) {
      if (tries === MOST_TRIES) return { path, end: "rest" };
      const [a, b, c] = [1 + h * fxx, h * fxy, 1 + h * fyy];
      const determinant = a * c - b * b;
      if (a <= 0 || determinant <= 0) continue;
      const [dx, dy] = [(-h * (c * fx - b * fy)) / determinant, (-h * (a * fy - b * fx)) / determinant];
      length = Math.hypot(dx / width, dy / height);
      if (length > LONGEST_STEP * 1.01) continue;
      const next: Point = [x + dx, y + dy];
      if (!contains(surface.x, next[0]) || !contains(surface.y, next[1])) return { path: [...path, next], end: "edge" };
      const there = surface.at(...next);
      // Not finite comes out of the loop, too: the path ends there.
      if (there.f > f) continue;
      [x, y, here] = [...next, there];
      path.push(next);
      break;
    }
    if (length < SHORTEST_STEP) return { path, end: "rest" };
    if (length < LONGEST_STEP / 2) h *= 2;
  }
  return { path, end: "rest" };
}

/** Contours and arrows of a surface, as paths in pixels. */

import { contours } from "d3-contour";
import { quantileSorted } from "d3-array";

import { acrossOf, downOf, type Frame, pathOf } from "./frame.ts";
import type { Surface } from "./interpolation.ts";
import { type Range, spaced } from "./range.ts";

const LEVELS = 12;
/** Contours are drawn through a finer grid than that of the samples. */
const FINER = 3;
/** The distance of arrows, in pixels. */
const ARROW_PIXELS = 36;

export interface Contour {
  readonly level: number;
  /** The outline of all that is at least as high. */
  readonly path: string;
}

/** Levels between which about as much of the picture lies, closer together at low values, where minima are. */
export function levelsOf(values: Float64Array): number[] {
  const sorted = [...values.filter(Number.isFinite).sort()];
  if (sorted.length === 0) return [];
  const levels = Array.from({ length: LEVELS - 1 }, (_, i) => quantileSorted(sorted, ((i + 1) / LEVELS) ** 1.5) ?? NaN);
  return [...new Set(levels)].filter((level) => level > sorted[0]!);
}

/** Outlines from the lowest level to the highest. */
export function contoursOf(surface: Surface, frame: Frame): Contour[] {
  const count = (surface.count - 1) * FINER + 1;
  const [xs, ys] = [spaced(surface.x, count), spaced(surface.y, count)];
  const values: number[] = [];
  for (const y of ys) for (const x of xs) values.push(surface.valueAt(x, y));
  const draw = contours().size([count, count]).thresholds(levelsOf(surface.values));
  // Samples are in the middles of the cells of d3-contour.
  const at = (range: Range, place: number) => range.from + ((place - 0.5) / (count - 1)) * (range.to - range.from);
  const pixels = ([i = 0, j = 0]: number[]) => [acrossOf(frame, at(surface.x, i)), downOf(frame, at(surface.y, j))] as const;
  return draw(values).map(({ value, coordinates }) => ({
    level: value,
    path: coordinates.flatMap((polygon) => polygon.map((ring) => `${pathOf(ring.map(pixels))}Z`)).join(""),
  }));
}

/** The gradient as arrows: their length grows with its size, their directions are those of the picture. */
export function arrowsOf(surface: Surface, frame: Frame): string {
  const [columns, rows] = [Math.max(4, Math.floor(frame.width / ARROW_PIXELS)), Math.max(4, Math.floor(frame.height / ARROW_PIXELS))];
  const at = ({ from, to }: Range, i: number, count: number) => from + ((i + 0.5) / count) * (to - from);
  const arrows: { tail: [number, number]; along: [number, number]; size: number }[] = [];
  for (let j = 0; j < rows; j += 1)
    for (let i = 0; i < columns; i += 1) {
      const [x, y] = [at(surface.x, i, columns), at(surface.y, j, rows)];
      const { fx, fy } = surface.at(x, y);
      const tail: [number, number] = [acrossOf(frame, x), downOf(frame, y)];
      // Small enough a step not to overflow: only its direction counts.
      const size = Math.hypot(fx, fy);
      const along: [number, number] = [acrossOf(frame, x + fx / size) - tail[0], downOf(frame, y + fy / size) - tail[1]];
      if (size > 0 && along.every(Number.isFinite)) arrows.push({ tail, along, size });
    }
  const largest = Math.max(...arrows.map(({ size }) => size));
  return arrows.map(({ tail: [x, y], along: [a, b], size }) => arrow(x, y, a, b, ARROW_PIXELS * (0.15 + 0.65 * (size / largest) ** 0.25))).join("");
}

/** An arrow of a length in pixels, centred at a point. */
function arrow(x: number, y: number, a: number, b: number, length: number): string {
  const size = Math.hypot(a, b);
  const [u, v] = [(a / size) * (length / 2), (b / size) * (length / 2)];
  const wing = (side: number): [number, number] => [x + u * 0.35 - side * v * 0.45, y + v * 0.35 + side * u * 0.45];
  return pathOf([[x - u, y - v], [x + u, y + v]]) + pathOf([wing(1), [x + u, y + v], wing(-1)]);
}

/** The cells around samples that are not finite, where the surface is none. */
export function holesOf(surface: Surface, frame: Frame): string {
  const { count, values } = surface;
  const [xs, ys] = [spaced(surface.x, count), spaced(surface.y, count)];
  let path = "";
  for (let j = 0; j < count - 1; j += 1)
    for (let i = 0; i < count - 1; i += 1) {
      const corners = [values[j * count + i], values[j * count + i + 1], values[(j + 1) * count + i], values[(j + 1) * count + i + 1]];
      if (corners.every(Number.isFinite)) continue;
      const [left, right] = [acrossOf(frame, xs[i]!), acrossOf(frame, xs[i + 1]!)];
      const [low, high] = [downOf(frame, ys[j]!), downOf(frame, ys[j + 1]!)];
      path += `${pathOf([[left, low], [right, low], [right, high], [left, high]])}Z`;
    }
  return path;
}

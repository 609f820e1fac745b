/** The rectangle of a plot: between numbers and pixels. */

import { ticks } from "d3-array";

import type { Range } from "./range.ts";

export interface Frame {
  readonly width: number;
  readonly height: number;
  readonly x: Range;
  readonly y: Range;
}

/** Room for the axes' numbers, in pixels. */
export const MARGIN = { left: 56, right: 14, top: 22, bottom: 40 } as const;

const inner = ({ width, height }: Frame) => [width - MARGIN.left - MARGIN.right, height - MARGIN.top - MARGIN.bottom] as const;

/** Pixels from the left. */
export function acrossOf(frame: Frame, x: number): number {
  return MARGIN.left + (inner(frame)[0] * (x - frame.x.from)) / (frame.x.to - frame.x.from);
}

/** Pixels from above. */
export function downOf(frame: Frame, y: number): number {
  return MARGIN.top + (inner(frame)[1] * (frame.y.to - y)) / (frame.y.to - frame.y.from);
}

/** The numbers at pixels from the left and from above. */
export function numbersAt(frame: Frame, across: number, down: number): [x: number, y: number] {
  const [width, height] = inner(frame);
  const { x, y } = frame;
  return [x.from + ((across - MARGIN.left) / width) * (x.to - x.from), y.to - ((down - MARGIN.top) / height) * (y.to - y.from)];
}

/** Round numbers of an axis, about `pixels` apart. */
export function ticksOf({ from, to }: Range, length: number, pixels: number): number[] {
  return ticks(from, to, Math.max(2, Math.floor(length / pixels)));
}

/** The d of an SVG path through points in pixels; it is broken at those that are not finite. */
export function pathOf(points: Iterable<readonly [across: number, down: number]>): string {
  let [text, isDrawing] = ["", false];
  for (const [across, down] of points) {
    const isFinite = Number.isFinite(across) && Number.isFinite(down);
    if (isFinite) text += `${isDrawing ? "L" : "M"}${across.toFixed(1)} ${down.toFixed(1)}`;
    isDrawing = isFinite;
  }
  return text;
}

/** The d through a function's values at equally spaced places; a jump over the whole frame, as at a pole, is not drawn. */
export function curvePath(frame: Frame, values: Float64Array): string {
  const { x, y } = frame;
  const side = (value: number) => (value > y.to ? 1 : value < y.from ? -1 : 0);
  const points: [number, number][] = [];
  // Farther off than this a path is not drawn reliably.
  const held = (down: number) => Math.max(-frame.height, Math.min(2 * frame.height, down));
  values.forEach((value, i) => {
    if (i > 0 && side(value) * side(values[i - 1] ?? NaN) === -1) points.push([NaN, NaN]);
    const at = x.from + ((x.to - x.from) * i) / (values.length - 1);
    points.push([acrossOf(frame, at), held(downOf(frame, value))]);
  });
  return pathOf(points);
}

/** The ends, in pixels, of a line through a point within the frame. */
export function lineOf(frame: Frame, [x, y]: readonly [number, number], slope: number): { x1: number; y1: number; x2: number; y2: number } {
  const at = (value: number) => (slope === 0 ? NaN : x + (value - y) / slope);
  const [low, high] = [at(frame.y.from), at(frame.y.to)].sort((a, b) => a - b) as [number, number];
  const from = slope === 0 ? frame.x.from : Math.max(frame.x.from, low);
  const to = slope === 0 ? frame.x.to : Math.min(frame.x.to, high);
  const down = (place: number) => downOf(frame, y + slope * (place - x));
  return { x1: acrossOf(frame, from), y1: down(from), x2: acrossOf(frame, to), y2: down(to) };
}

/** The stretches of a range at whose samples the values are not finite, half a step to each side. */
export function gapsOf(range: Range, values: Float64Array): Range[] {
  const step = (range.to - range.from) / (values.length - 1);
  const gaps: Range[] = [];
  let start: number | null = null;
  for (let i = 0; i <= values.length; i += 1) {
    const isGap = i < values.length && !Number.isFinite(values[i]);
    if (isGap) start ??= i;
    else if (start !== null) {
      gaps.push({ from: Math.max(range.from, range.from + (start - 0.5) * step), to: Math.min(range.to, range.from + (i - 0.5) * step) });
      start = null;
    }
  }
  return gaps;
}

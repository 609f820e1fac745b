/** The target at many places, by one request whose examples are these places. */

import type { Answer } from "../model/answer.ts";
import type { Json, JsonObject } from "../service/json.ts";
import type { Question } from "../service/latest.ts";
import { readTree } from "../service/tensor.ts";
import { type Coordinate, withExamples } from "./coordinates.ts";
import { namedLeaves, tensorsOf } from "./elements.ts";
import { type Range, spaced } from "./range.ts";

/** Places along a curve. */
export const CURVE_PLACES = 201;
/** Places along each side of a grid. */
export const GRID_PLACES = 41;
/** A target of more elements is only drawn as their sum. */
export const MOST_PARTS = 8;

/** An axis of a plot: what varies, and from where to where. */
export interface Axis {
  readonly coordinate: Coordinate;
  readonly range: Range;
}

export interface Samples {
  readonly axes: readonly Axis[];
  /** What the values are, in words for people. */
  readonly name: string;
  /** What the gradient is of at each place: the target, or the sum of its elements; the first axis changes fastest. */
  readonly values: Float64Array;
  /** The derivative along each axis; null where there is none. */
  readonly slopes: readonly (Float64Array | null)[];
  /** Each element at each place, if the target has a few. */
  readonly parts: readonly Float64Array[];
}

/** The question for the target along one axis, or over two. */
export function samplesOf(program: string, variables: JsonObject, axes: readonly Axis[]): Question<Samples> {
  const side = axes.length === 1 ? CURVE_PLACES : GRID_PLACES;
  const places = side ** axes.length;
  const moved = axes.map(({ coordinate, range }, axis) => {
    const along = spaced(range, side);
    return { coordinate, values: Float64Array.from({ length: places }, (_, i) => along[Math.floor(i / side ** axis) % side] ?? NaN) };
  });
  const { variables: sent, batch } = withExamples(variables, moved);
  return {
    path: "v1/gradient",
    body: { program, variables: sent, batch, sources: batch, encoding: "base64" },
    read: (document) => read(document, axes, places, batch),
  };
}

function read(document: JsonObject, axes: readonly Axis[], places: number, sources: Json): Samples {
  const tensors = tensorsOf(readTree(document["value"] ?? null));
  const values = new Float64Array(places);
  const parts: Float64Array[] = [];
  let size = 0;
  for (const { data } of tensors) {
    const own = data.length / places;
    size += own;
    data.forEach((value, i) => (values[Math.floor(i / own)]! += value));
    for (let part = 0; part < own && parts.length <= MOST_PARTS; part += 1)
      parts.push(Float64Array.from({ length: places }, (_, i) => data[i * own + part] ?? NaN));
  }
  const gradients = namedLeaves(sources, readTree(document["gradients"] ?? null));
  const slopes = axes.map(({ coordinate: { path, index, size: elements } }) => {
    const tensor = gradients.find(({ name }) => name === path)?.tensor;
    // Derivatives of a target that is not finite are not drawn.
    return tensor ? values.map((value, i) => (Number.isFinite(value) ? (tensor.data[i * elements + index] ?? NaN) : NaN)) : null;
  });
  const name = size === 1 ? "value" : `sum of ${size} elements`;
  // A gradient of complex numbers is that of their real parts.
  const isComplex = tensors.some(({ imag }) => imag !== undefined);
  return { axes, name: isComplex ? `real part of the ${name}` : name, values, slopes, parts: size > 1 && size <= MOST_PARTS ? parts : [] };
}

/** The target and its derivatives at one place. */
export interface Here {
  readonly at: readonly number[];
  readonly value: number;
  readonly slopes: readonly (number | null)[];
  /** Whether the numbers are the service's own, not interpolated. */
  readonly isExact: boolean;
}

/** What an answer says of the target at its variables, along some coordinates; null if it has no derivatives there. */
export function hereOf(answer: Answer, coordinates: readonly Coordinate[]): Here | null {
  const value = tensorsOf(answer.value).reduce((sum, { data }) => data.reduce((total, one) => total + one, sum), 0);
  const { sources } = answer.request;
  const leaves = namedLeaves(sources, answer.query === "jacobian" ? answer.derivatives : answer.gradients);
  const slopes = coordinates.map(({ path, index, size }) => {
    const found = leaves.find(({ name }) => name === path);
    if (found?.tensor?.imag !== undefined) return undefined;
    // A row of a Jacobian for each element of the target; a gradient is one row.
    return found?.tensor ? found.tensor.data.reduce((sum, one, i) => (i % size === index ? sum + one : sum), 0) : found && null;
  });
  if (slopes.includes(undefined)) return null;
  return { at: coordinates.map((one) => one.value), value, slopes: slopes as (number | null)[], isExact: true };
}

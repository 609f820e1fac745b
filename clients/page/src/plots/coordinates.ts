/** Numbers of the variables that a plot may vary: scalars, and elements of small arrays. */

import { isLeaf, leavesOf, withLeaf } from "../model/variables.ts";
import { isObject, type Json, type JsonObject } from "../service/json.ts";
import { elementName } from "./elements.ts";

export interface Coordinate {
  /** As `x` or `layer.w[1, 0]`. */
  readonly name: string;
  /** The dotted path of the leaf that it is an element of. */
  readonly path: string;
  /** Its place among the leaf's elements in C order. */
  readonly index: number;
  /** How many elements the leaf has. */
  readonly size: number;
  readonly value: number;
}

/** Elements of longer arrays are not offered one by one. */
export const MOST_ELEMENTS = 64;

/** A leaf of real floating-point numbers as it was typed. */
interface Floats {
  readonly shape: readonly number[];
  readonly numbers: readonly number[];
}

/** The coordinates of the sources, in the order of the variables; those of `absent` paths have other values than the typed ones. */
export function coordinatesOf(variables: JsonObject, sources: Json | undefined, absent: ReadonlySet<string>): Coordinate[] {
  return leavesOf(variables).flatMap(([path, leaf]) => {
    const floats = absent.has(path) || !isSource(path, sources) ? null : floatsOf(leaf);
    if (floats === null || floats.numbers.length > MOST_ELEMENTS) return [];
    const { shape, numbers } = floats;
    return numbers.map((value, index) => ({ name: elementName(path, shape, index), path, index, size: numbers.length, value }));
  });
}

/** Whether sources, as a request has them, name a variable's path or one above it. */
export function isSource(path: string, sources: Json | undefined): boolean {
  if (sources === undefined) return true;
  if (typeof sources === "string") {
    const name = sources.replace(/\[(\d+)\]/g, ".$1");
    return path === name || path.startsWith(`${name}.`);
  }
  return typeof sources === "object" && sources !== null && Object.values(sources).some((part) => isSource(path, part));
}

/** The elements of a leaf; null if it is not typed as real floating-point numbers. */
export function floatsOf(leaf: Json): Floats | null {
  if (isObject(leaf)) {
    const { value, dtype = "float64" } = leaf as JsonObject;
    return value === undefined || isObject(value) || !/^(bfloat16|float(16|32|64))$/.test(String(dtype)) ? null : floatsOf(value);
  }
  const shape: number[] = [];
  for (let part: Json | undefined = leaf; Array.isArray(part); part = part[0]) shape.push(part.length);
  const flat = flattened(leaf);
  const size = shape.reduce((product, length) => product * length, 1);
  if (size === 0 || flat.length !== size || !isLeaf(leaf) || flat.every((one) => typeof one === "boolean")) return null;
  const numbers = flat.map(Number);
  return flat.some((one) => typeof one === "string" && Number.isNaN(Number(one)) && one !== "NaN") ? null : { shape, numbers };
}

function flattened(leaf: Json): Json[] {
  return Array.isArray(leaf) ? leaf.flatMap(flattened) : [leaf];
}

/** A leaf with other elements, by their places in C order. */
export function withElements(leaf: Json, changes: ReadonlyMap<number, number>): Json {
  if (isObject(leaf)) return { ...leaf, value: withElements((leaf as JsonObject)["value"] ?? null, changes) } as JsonObject;
  let next = 0;
  const copy = (part: Json): Json => (Array.isArray(part) ? part.map(copy) : (changes.get(next++) ?? part));
  return copy(leaf);
}

/** A coordinate and its value in each example. */
export interface Moved {
  readonly coordinate: Coordinate;
  readonly values: Float64Array;
}

/** Variables in which some coordinates differ from example to example, and the names that have examples. */
export function withExamples(variables: JsonObject, moved: readonly Moved[]): { variables: JsonObject; batch: string[] } {
  const leaves = new Map(leavesOf(variables));
  const batch = [...new Set(moved.map(({ coordinate }) => coordinate.path))];
  let changed: Json = variables;
  for (const path of batch) {
    const own = moved.filter(({ coordinate }) => coordinate.path === path);
    const leaf = leaves.get(path) ?? null;
    const typed = isObject(leaf) ? ((leaf as JsonObject)["value"] ?? null) : leaf;
    const examples = Array.from(own[0]?.values ?? [], (_, i) =>
      withElements(typed, new Map(own.map(({ coordinate, values }) => [coordinate.index, values[i] ?? NaN]))),
    );
    changed = withLeaf(changed, path, isObject(leaf) ? ({ ...leaf, value: examples } as JsonObject) : examples);
  }
  return { variables: changed as JsonObject, batch };
}

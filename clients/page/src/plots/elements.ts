/** The arrays of an answer, by the names of their sources, and their elements. */

import type { Leaf } from "../model/answer.ts";
import { isObject, type Json, type Tree } from "../service/json.ts";
import { isTensor, type Tensor } from "../service/tensor.ts";

/** As `w[1, 0]`; a scalar is only named. */
export function elementName(name: string, shape: readonly number[], index: number): string {
  if (shape.length === 0) return name;
  const indices: number[] = [];
  let rest = index;
  for (const length of [...shape].reverse()) {
    indices.unshift(rest % length);
    rest = Math.floor(rest / length);
  }
  return `${name}[${indices.join(", ")}]`;
}

export interface Named {
  /** The path among the variables. */
  readonly name: string;
  /** Where the array is in the answer. */
  readonly keys: readonly string[];
  /** Null where there is no gradient. */
  readonly tensor: Tensor | null;
}

/** The arrays of a tree that has the structure of `sources`, a request's; undefined for all variables. */
export function namedLeaves(sources: Json | undefined, tree: Tree<Leaf>, keys: readonly string[] = []): Named[] {
  if (sources === undefined) return below(tree, "", keys);
  if (typeof sources === "string") return below(tree, sources.replace(/\[(\d+)\]/g, ".$1"), keys);
  if (typeof sources !== "object" || sources === null || typeof tree !== "object" || tree === null || isTensor(tree)) return [];
  return Object.entries(sources).flatMap(([key, part]) => namedLeaves(part, (tree as { [key: string]: Tree<Leaf> })[key] ?? null, [...keys, key]));
}

function below(tree: Tree<Leaf>, name: string, keys: readonly string[]): Named[] {
  if (isTensor(tree)) return [{ name, keys, tensor: tree }];
  if (tree === null || typeof tree === "string") return [{ name, keys, tensor: null }];
  // The gradient of a sparse or a ragged tensor is that of its values.
  const parts = isObject(tree) && "values" in tree && ("indices" in tree || "row_splits" in tree) ? { values: tree["values"] as Tree<Leaf> } : tree;
  return Object.entries(parts).flatMap(([key, part]) => below(part, name === "" ? key : `${name}.${key}`, [...keys, key]));
}

/** The part of a tree at some keys; undefined if it has none there. */
export function partAt(tree: Tree<Leaf>, keys: readonly string[]): Tree<Leaf> | undefined {
  let part: Tree<Leaf> | undefined = tree;
  for (const key of keys) {
    if (typeof part !== "object" || part === null || isTensor(part)) return undefined;
    part = (part as { [key: string]: Tree<Leaf> })[key];
  }
  return part;
}

/** All arrays of a tree. */
export function tensorsOf(tree: Tree<Leaf>): Tensor[] {
  if (isTensor(tree)) return [tree];
  return typeof tree === "object" && tree !== null ? Object.values(tree).flatMap(tensorsOf) : [];
}

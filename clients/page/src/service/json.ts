/** JSON documents, and trees whose leaves are something else. */

export type Json = null | boolean | number | string | Json[] | JsonObject;
export interface JsonObject {
  [name: string]: Json;
}

/** Lists and objects of leaves: the structure of a request's sources. */
export type Tree<Leaf> = Leaf | Tree<Leaf>[] | { [name: string]: Tree<Leaf> };

export function isObject(value: unknown): value is { [name: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** JSON documents, and trees whose leaves are something else. */

export type Json = null | boolean | number | string | Json[] | JsonObject;
export interface JsonObject {
  [name: string]: Json;
}

/** Lists and objects of leaves: the structure of a request's sources. */
export type Tree<Leaf> = Leaf | Tree<Leaf>[] | { [name: string]: Tree<Leaf> };

/** A number as JSON, with the sign of −0, which `JSON.stringify` drops. */
export function numberText(value: number): string {
  return Object.is(value, -0) ? "-0.0" : JSON.stringify(value);
}

/** A document as JSON, with its numbers as they are. */
export function jsonOf(value: Json): string {
  if (typeof value === "number") return numberText(value);
  if (Array.isArray(value)) return `[${value.map(jsonOf).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  return `{${Object.entries(value as JsonObject).map(([name, part]) => `${JSON.stringify(name)}:${jsonOf(part)}`).join(",")}}`;
}

export function isObject(value: unknown): value is { [name: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

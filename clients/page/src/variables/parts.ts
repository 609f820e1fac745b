/** The parts of a leaf that are edited as numbers: its values, or real and imaginary parts. */

import { isArray } from "../model/variables.ts";
import { isObject, type Json, type JsonObject } from "../service/json.ts";

export interface Part {
  /** What the part is called, where a leaf has several. */
  readonly label: string;
  readonly value: Json;
  readonly dtype: string;
  /** The leaf with another value of this part. */
  readonly put: (value: Json) => Json;
}

/** None for bytes, references and text. */
export function partsOf(leaf: Json): Part[] {
  if (isArray(leaf)) return [{ label: "", value: leaf, dtype: dtypeOf(leaf), put: (value) => value }];
  if (!isObject(leaf)) return [];
  const document = leaf as JsonObject;
  const names = "re" in document ? ["re", "im"] : ["value" in document ? "value" : "values"];
  return names.flatMap((name): Part[] => {
    const value = document[name];
    if (value === undefined || !isArray(value)) return [];
    const dtype = typeof document["dtype"] === "string" ? document["dtype"] : dtypeOf(value);
    const put = (changed: Json) => ({ ...document, [name]: changed });
    return [{ label: name.startsWith("value") ? "" : name, value, dtype: dtype.replace(/^complex.*/, "float64"), put }];
  });
}

/** The dtype of a number or a list without one. */
function dtypeOf(value: Json): string {
  const isTruth = (part: Json): boolean => (Array.isArray(part) ? part.length > 0 && part.every(isTruth) : typeof part === "boolean");
  return isTruth(value) ? "bool" : "float64";
}

/** The shape of nested lists; null if their lengths differ. */
export function shapeOf(value: Json): number[] | null {
  if (!Array.isArray(value)) return [];
  const [first = [], ...others] = value.map(shapeOf);
  if (first === null || others.some((shape) => shape?.join() !== first.join())) return null;
  return [value.length, ...first];
}

/** Nested lists with another element. */
export function withElement(value: Json, index: readonly number[], element: Json): Json {
  const [first, ...rest] = index;
  if (first === undefined || !Array.isArray(value)) return element;
  return value.map((part, i) => (i === first ? withElement(part, rest, element) : part));
}

const NONFINITE: { readonly [text: string]: string } = { nan: "NaN", inf: "Infinity", infinity: "Infinity", "∞": "Infinity" };

/** The element of a text, as JSON has it; null for a text that is none of this dtype. */
export function readElement(text: string, dtype: string): Json {
  const [, sign = "", size = ""] = /^([-−+]?)(.*)$/.exec(text.trim()) ?? [];
  const isNegative = sign === "-" || sign === "−";
  const special = NONFINITE[size.toLowerCase()];
  if (special !== undefined) return dtype.includes("int") ? null : special === "NaN" ? special : `${isNegative ? "-" : ""}${special}`;
  if (!/^(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(size)) return null;
  const number = isNegative ? -Number(size) : Number(size);
  if (!Number.isFinite(number)) return isNegative ? "-Infinity" : "Infinity";
  // Larger integers would be rounded.
  return dtype.includes("int") && !Number.isSafeInteger(number) ? null : number;
}

/** A number or one of JSON's words for what is none, as a number. */
export function numberOf(element: Json): number {
  return typeof element === "string" || typeof element === "number" ? Number(element) : NaN;
}

/** The number one step up or down: a tenth of its leading digit's place, or one for integers. */
export function stepped(value: number, direction: number, dtype: string): number {
  if (!Number.isFinite(value)) return value;
  if (dtype.includes("int")) return value + direction;
  const place = value === 0 ? -1 : Math.floor(Math.log10(Math.abs(value))) - 1;
  return Number((value + direction * 10 ** place).toPrecision(12));
}

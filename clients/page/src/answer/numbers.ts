/** Numbers and arrays as text. */

import type { Json, Tree } from "../service/json.ts";
import { isTensor, type Tensor } from "../service/tensor.ts";

/** Six significant digits, as most people read, and whole numbers below 1e9 in full; NaN and ∞ as such. */
export function shortNumber(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const size = Math.abs(value);
  const isWhole = Number.isInteger(value);
  // Zeros in place of digits would look like digits, so what is rounded before its point has an exponent.
  const isPlain = size === 0 || (size >= 1e-4 && size < (isWhole ? 1e9 : 1e6));
  const plain = isWhole ? String(value) : String(Number(value.toPrecision(6)));
  return withMinus(isPlain ? plain : value.toExponential(5).replace(/\.?0+e/, "e"));
}

/** A number's text with the sign for minus, and no plus. */
function withMinus(text: string): string {
  return text.replace("e+", "e").replaceAll("-", "−");
}

export function elementText(tensor: Tensor, index: number): string {
  const real = tensor.data[index] ?? NaN;
  if (tensor.dtype === "bool") return real ? "true" : "false";
  // An integer has no digits that do not matter, as long as a double holds it.
  if (tensor.dtype.includes("int") && Number.isSafeInteger(real)) return withMinus(String(real));
  if (tensor.imag === undefined) return shortNumber(real);
  const imaginary = tensor.imag[index] ?? NaN;
  return `${shortNumber(real)} ${imaginary < 0 ? "−" : "+"} ${shortNumber(Math.abs(imaginary))}i`;
}

/** As `float64[2, 3]`. */
export function typeText(tensor: Pick<Tensor, "dtype" | "shape">): string {
  return tensor.shape.length === 0 ? tensor.dtype : `${tensor.dtype}[${tensor.shape.join(", ")}]`;
}

/** All elements, as nested lists; for small arrays. */
export function arrayText(tensor: Tensor): string {
  const text = (part: Json): string => (Array.isArray(part) ? `[${part.map(text).join(", ")}]` : elementText(tensor, part as number));
  return text(nested(tensor, (index) => index));
}

/** Nested lists of what `element` gives for each index. */
function nested({ shape, data }: Tensor, element: (index: number) => Json): Json {
  const part = (axis: number, start: number, size: number): Json => {
    const count = shape[axis];
    if (count === undefined) return element(start);
    return Array.from({ length: count }, (_, i) => part(axis + 1, start + (i * size) / count, size / count));
  };
  return part(0, 0, data.length);
}

/** An answer with all digits of its numbers, in the form of the service's JSON. */
export function wholeTree(tree: Tree<Tensor | string | null>): Json {
  if (isTensor(tree)) return wholeArray(tree);
  if (Array.isArray(tree)) return tree.map(wholeTree);
  if (typeof tree !== "object" || tree === null) return tree;
  return Object.fromEntries(Object.entries(tree).map(([name, part]) => [name, wholeTree(part)]));
}

function wholeArray(tensor: Tensor): Json {
  const { dtype, data, imag } = tensor;
  const number = (value: number): Json => {
    if (dtype === "bool") return value !== 0;
    if (!Number.isFinite(value)) return String(value);
    // A double does not have all digits of such an integer, so none are written that look like them.
    return dtype.includes("int") && !Number.isSafeInteger(value) ? `about ${value.toExponential()}` : value;
  };
  const part = (numbers: Float64Array) => nested(tensor, (index) => number(numbers[index] ?? NaN));
  return imag === undefined ? part(data) : { re: part(data), im: part(imag) };
}

export interface Statistics {
  readonly min: number;
  readonly max: number;
  readonly mean: number;
  readonly nonfinite: number;
}

/** Of the finite elements; NaN if none is. */
export function statistics(data: Float64Array): Statistics {
  let [min, max, sum, finite] = [Infinity, -Infinity, 0, 0];
  for (const value of data) {
    if (!Number.isFinite(value)) continue;
    if (value < min) min = value;
    if (value > max) max = value;
    sum += value;
    finite += 1;
  }
  const none = finite === 0;
  return { min: none ? NaN : min, max: none ? NaN : max, mean: none ? NaN : sum / finite, nonfinite: data.length - finite };
}

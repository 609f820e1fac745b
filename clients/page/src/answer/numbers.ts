/** Numbers and arrays as text. */

import type { Tensor } from "../service/tensor.ts";

/** Six significant digits, as most people read; NaN and ∞ as such. */
export function shortNumber(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const size = Math.abs(value);
  const text = size !== 0 && (size < 1e-4 || size >= 1e9) ? value.toExponential(5) : String(Number(value.toPrecision(6)));
  return text.replace("-", "−").replace(/\.?0+e/, "e");
}

export function elementText(tensor: Tensor, index: number): string {
  const real = tensor.data[index] ?? NaN;
  if (tensor.dtype === "bool") return real ? "true" : "false";
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
  const write = (axis: number, start: number, size: number): string => {
    if (axis === tensor.shape.length) return elementText(tensor, start);
    const count = tensor.shape[axis] ?? 0;
    const step = count === 0 ? 0 : size / count;
    return `[${Array.from({ length: count }, (_, i) => write(axis + 1, start + i * step, step)).join(", ")}]`;
  };
  return write(0, 0, tensor.data.length);
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

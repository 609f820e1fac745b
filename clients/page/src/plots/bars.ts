/** The largest elements of gradients, by their size. */

import { elementText } from "../answer/numbers.ts";
import { elementName, type Named } from "./elements.ts";

export const MOST_BARS = 40;

export interface Bar {
  readonly name: string;
  readonly text: string;
  /** The absolute value; infinite for what is not finite. */
  readonly size: number;
  /** 0 for zero, complex numbers and what is not finite. */
  readonly sign: -1 | 0 | 1;
}

export interface Bars {
  /** From the largest to the smallest; equal ones in the order of the sources. */
  readonly shown: readonly Bar[];
  readonly others: { readonly count: number; readonly largest: number };
  /** Sources without a gradient. */
  readonly missing: readonly string[];
}

/** The bars of gradients: the largest `most`, and what the others have in common. */
export function barsOf(gradients: readonly Named[], most = MOST_BARS): Bars {
  // Sorted by size; an array of millions is read once.
  const largest: { size: number; leaf: Named; index: number }[] = [];
  let [count, left] = [0, 0];
  for (const leaf of gradients) {
    const { data, imag } = leaf.tensor ?? { data: [] as number[] };
    for (let index = 0; index < data.length; index += 1) {
      const real = data[index] ?? NaN;
      const absolute = imag === undefined ? Math.abs(real) : Math.hypot(real, imag[index] ?? NaN);
      const size = Number.isFinite(absolute) ? absolute : Infinity;
      count += 1;
      if (largest.length === most) {
        if (size <= largest.at(-1)!.size) {
          left = Math.max(left, size);
          continue;
        }
        left = Math.max(left, largest.pop()!.size);
      }
      let at = largest.length;
      while (at > 0 && largest[at - 1]!.size < size) at -= 1;
      largest.splice(at, 0, { size, leaf, index });
    }
  }
  const shown = largest.map(({ size, leaf: { name, tensor }, index }): Bar => ({
    name: elementName(name, tensor!.shape, index),
    text: elementText(tensor!, index),
    size,
    sign: size === Infinity || tensor!.imag !== undefined ? 0 : (Math.sign(tensor!.data[index]!) as -1 | 0 | 1),
  }));
  const missing = gradients.filter(({ tensor }) => tensor === null).map(({ name }) => name);
  return { shown, others: { count: count - shown.length, largest: left }, missing };
}

/** The part of an axis that a plot shows. */

export interface Range {
  readonly from: number;
  readonly to: number;
}

const SMALLEST_SHARE = 1e-9;
const LARGEST = 1e300;

/** Twice a number's size to each side of it. */
export function around(value: number): Range {
  const middle = Number.isFinite(value) ? value : 0;
  const half = Math.min(LARGEST, 2 * Math.abs(middle) || 2);
  return { from: middle - half, to: middle + half };
}

/** A range `factor` times as wide, with `middle` in its middle; it ends where floating-point numbers do. */
export function zoomed(range: Range, middle: number, factor: number): Range {
  const half = Math.min(LARGEST, Math.max((factor * (range.to - range.from)) / 2, SMALLEST_SHARE * (Math.abs(middle) || SMALLEST_SHARE)));
  return { from: middle - half, to: middle + half };
}

export function contains(range: Range, value: number): boolean {
  return range.from <= value && value <= range.to;
}

/** `count` numbers from end to end. */
export function spaced({ from, to }: Range, count: number): Float64Array {
  return Float64Array.from({ length: count }, (_, i) => (i === count - 1 ? to : from + ((to - from) * i) / (count - 1)));
}

/** A range that is widened to contain a number, if it is finite. */
export function including(range: Range, value: number): Range {
  return Number.isFinite(value) ? { from: Math.min(range.from, value), to: Math.max(range.to, value) } : range;
}

/** A number within a range, with no more digits than a place in a picture has. */
export function rounded(value: number, range: Range): number {
  const held = Math.min(range.to, Math.max(range.from, value));
  const step = 10 ** Math.floor(Math.log10((range.to - range.from) / 250));
  return Number((Math.round(held / step) * step).toPrecision(12));
}

/**
 * The range of a curve's values: all that are finite, or most of them if a few are far off, as at a pole.
 *
 * A little is left free above and below; null if no value is finite.
 */
export function rangeOfValues(values: Iterable<number>): Range | null {
  const finite = Float64Array.from(values).filter(Number.isFinite).sort();
  if (finite.length === 0) return null;
  const at = (share: number) => finite[Math.round(share * (finite.length - 1))] ?? 0;
  let [low, high] = [at(0), at(1)];
  const most = at(0.9) - at(0.1);
  if (high - low > 15 * most && most > 0) [low, high] = [Math.max(low, at(0.1) - most), Math.min(high, at(0.9) + most)];
  const free = 0.06 * (high - low) || 0.1 * Math.abs(high) || 1;
  return { from: low - free, to: high + free };
}

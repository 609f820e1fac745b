/** Ranges of sliders. */

export interface Range {
  readonly min: number;
  readonly max: number;
  readonly step: number;
}

/** Steps from one end of a slider to the other. */
const STEPS = 200;

/** The least and the largest integer of a dtype; all sizes that a double holds exactly for the longest. */
function bounds(dtype: string): [least: number, largest: number] {
  const [, unsigned, bits] = /^(u?)int(\d+)$/.exec(dtype) ?? [];
  if (bits === undefined) return [-Number.MAX_VALUE, Number.MAX_VALUE];
  const size = Math.min(2 ** Number(bits), 2 ** 53);
  return unsigned ? [0, size - 1] : [-size / 2, size / 2 - 1];
}

/** The least of 1, 2 and 5 times a power of ten that is not smaller. */
function roundUp(size: number): number {
  const power = 10 ** Math.floor(Math.log10(size));
  return [1, 2, 5, 10].map((digit) => digit * power).find((round) => round >= size * (1 - 1e-12)) ?? size;
}

function between(min: number, max: number, dtype: string): Range {
  const [least, largest] = bounds(dtype);
  const ends = { min: Math.max(min, least), max: Math.min(max, largest) };
  const step = (ends.max - ends.min) / STEPS;
  return { ...ends, step: dtype.includes("int") ? Math.max(1, Math.round(step)) : step };
}

/** A range around a value: from zero for a positive one, symmetric otherwise. Null for a value that no slider reaches. */
export function rangeOf(value: number, dtype: string): Range | null {
  const size = Math.abs(value);
  if (!(size < 1e100)) return null;
  const reach = Math.max(roundUp(size < 1e-100 ? 1 : 2 * size), dtype.includes("int") ? 10 : 0);
  return between(value > 0 ? 0 : -reach, reach, dtype);
}

/** Whether a slider of this range is of use for a value: it is inside, and not lost near zero. */
export function fits(range: Range, value: number): boolean {
  return range.min <= value && value <= range.max && (value === 0 || Math.abs(value) > 2 * range.step);
}

/** The range from a value at one of its ends further on; the same range elsewhere. */
export function widened(range: Range, value: number, dtype: string): Range {
  const width = range.max - range.min;
  if (width > 1e100) return range;
  if (value >= range.max) return between(range.min, range.max + width, dtype);
  if (value <= range.min) return between(range.min - width, range.max, dtype);
  return range;
}

/** Functions between samples of their values and derivatives: cubic Hermite interpolation, in one dimension and in two. */

import type { Range } from "./range.ts";

/** The Hermite cubics of two ends, or their first or second derivatives at `t` from 0 to 1: weights of the values, then of the slopes. */
function weights(t: number, order: 0 | 1 | 2): [value0: number, value1: number, slope0: number, slope1: number] {
  if (order === 0) return [(1 + 2 * t) * (1 - t) ** 2, t * t * (3 - 2 * t), t * (1 - t) ** 2, t * t * (t - 1)];
  if (order === 1) return [6 * t * (t - 1), 6 * t * (1 - t), (1 - t) * (1 - 3 * t), t * (3 * t - 2)];
  return [12 * t - 6, 6 - 12 * t, 6 * t - 4, 6 * t - 2];
}

/** The cell of a position among `count` samples, and where in it. */
function cellOf(position: number, count: number): [cell: number, t: number] {
  const cell = Math.min(count - 2, Math.max(0, Math.floor(position)));
  return [cell, position - cell];
}

/** Slopes by central differences along one axis, per sample; one-sided at the ends and beside values that are not finite. */
export function differences(values: Float64Array, count: number, stride: number): Float64Array {
  return Float64Array.from(values, (_, i) => {
    const along = Math.floor(i / stride) % count;
    const before = along > 0 && Number.isFinite(values[i - stride]) ? 1 : 0;
    const after = along < count - 1 && Number.isFinite(values[i + stride]) ? 1 : 0;
    return ((values[i + after * stride] ?? NaN) - (values[i - before * stride] ?? NaN)) / (before + after || 1);
  });
}

/** A curve through equally spaced samples, by their slopes or, without these, by differences. */
export function curveAt(range: Range, values: Float64Array, slopes: Float64Array | null, x: number): { value: number; slope: number } {
  const step = (range.to - range.from) / (values.length - 1);
  const [cell, t] = cellOf((x - range.from) / step, values.length);
  const scaled = slopes === null ? differences(values, values.length, 1) : slopes.map((slope) => step * slope);
  const ends = [values[cell], values[cell + 1], scaled[cell], scaled[cell + 1]];
  const sum = (order: 0 | 1) => weights(t, order).reduce((total, weight, i) => total + weight * (ends[i] ?? NaN), 0);
  return { value: sum(0), slope: sum(1) / step };
}

/** A surface's value and derivatives at a point. */
export interface Jet {
  readonly f: number;
  readonly fx: number;
  readonly fy: number;
  readonly fxx: number;
  readonly fxy: number;
  readonly fyy: number;
}

/** Bicubic Hermite interpolation on a grid, rows along y: continuous with its first derivatives. */
export class Surface {
  readonly #fx: Float64Array;
  readonly #fy: Float64Array;
  readonly #fxy: Float64Array;
  readonly #stepX: number;
  readonly #stepY: number;

  /** `count` is the number of samples along each axis; derivatives are those of the samples or, without these, differences. */
  constructor(
    readonly x: Range,
    readonly y: Range,
    readonly count: number,
    readonly values: Float64Array,
    gradient: readonly [Float64Array, Float64Array] | null,
  ) {
    this.#stepX = (x.to - x.from) / (count - 1);
    this.#stepY = (y.to - y.from) / (count - 1);
    this.#fx = gradient === null ? differences(values, count, 1) : gradient[0].map((slope) => slope * this.#stepX);
    this.#fy = gradient === null ? differences(values, count, count) : gradient[1].map((slope) => slope * this.#stepY);
    const [xy, yx] = [differences(this.#fx, count, count), differences(this.#fy, count, 1)];
    this.#fxy = xy.map((slope, i) => (slope + (yx[i] ?? NaN)) / 2);
    for (let i = 0; i < values.length; i += 1) if (this.#isBesideHole(i)) this.#flatten(i);
  }

  /** Whether a sample is not finite, or one of those around it. */
  #isBesideHole(sample: number): boolean {
    const [row, column] = [Math.floor(sample / this.count), sample % this.count];
    for (let j = Math.max(0, row - 1); j <= Math.min(this.count - 1, row + 1); j += 1)
      for (let i = Math.max(0, column - 1); i <= Math.min(this.count - 1, column + 1); i += 1)
        if (!Number.isFinite(this.values[j * this.count + i])) return true;
    return false;
  }

  /**
   * Limit a sample's slopes to three times the differences from its neighbours, so that cubics do not overshoot.
   *
   * Beside a pole they are far steeper. Source: Fritsch and Carlson, SIAM J. Numer. Anal. 17 (1980).
   */
  #flatten(sample: number): void {
    for (const [slopes, stride] of [[this.#fx, 1], [this.#fy, this.count]] as const) {
      const value = this.values[sample] ?? NaN;
      const steps = [sample - stride, sample + stride].map((other) => Math.abs((this.values[other] ?? NaN) - value)).filter(Number.isFinite);
      const most = 3 * Math.max(0, ...steps);
      slopes[sample] = Math.max(-most, Math.min(most, slopes[sample] ?? NaN));
    }
    this.#fxy[sample] = 0;
  }

  /** The value; NaN where a sample around is not finite. */
  valueAt(x: number, y: number): number {
    return this.#derivative(x, y, 0, 0);
  }

  /** The value and the derivatives; NaN where a sample around is not finite. */
  at(x: number, y: number): Jet {
    const of = (orderX: 0 | 1 | 2, orderY: 0 | 1 | 2) => this.#derivative(x, y, orderX, orderY);
    return { f: of(0, 0), fx: of(1, 0), fy: of(0, 1), fxx: of(2, 0), fxy: of(1, 1), fyy: of(0, 2) };
  }

  #derivative(x: number, y: number, orderX: 0 | 1 | 2, orderY: 0 | 1 | 2): number {
    const [column, s] = cellOf((x - this.x.from) / this.#stepX, this.count);
    const [row, t] = cellOf((y - this.y.from) / this.#stepY, this.count);
    const [across, up] = [weights(s, orderX), weights(t, orderY)];
    let total = 0;
    for (const j of [0, 1] as const)
      for (const i of [0, 1] as const) {
        const at = (row + j) * this.count + column + i;
        const [valueX, slopeX, valueY, slopeY] = [across[i], across[i + 2] as number, up[j], up[j + 2] as number];
        total += valueX * (valueY * (this.values[at] ?? NaN) + slopeY * (this.#fy[at] ?? NaN));
        total += slopeX * (valueY * (this.#fx[at] ?? NaN) + slopeY * (this.#fxy[at] ?? NaN));
      }
    return total / (this.#stepX ** orderX * this.#stepY ** orderY);
  }
}

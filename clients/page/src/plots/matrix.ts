/** A Jacobian or a Hessian as one matrix of blocks. */

import type { Answer, Leaf } from "../model/answer.ts";
import type { Tree } from "../service/json.ts";
import { isTensor } from "../service/tensor.ts";
import { elementName, namedLeaves, partAt } from "./elements.ts";

/** The rows or columns of one array. */
export interface Side {
  readonly name: string;
  readonly shape: readonly number[];
  readonly start: number;
  readonly size: number;
}

export interface Matrix {
  readonly rows: readonly Side[];
  readonly columns: readonly Side[];
  readonly height: number;
  readonly width: number;
  /** In C order. */
  readonly values: Float64Array;
}

/** Why an answer has no matrix to show, in words for people. */
export class NoMatrix extends Error {}

const MOST_VALUES = 16_000_000;

/** The matrix of an answer. Throws `NoMatrix`. */
export function matrixOf(answer: Answer): Matrix {
  const { sources } = answer.request;
  const leaves = namedLeaves(sources, answer.query === "hessian" ? answer.gradients : answer.derivatives);
  const found = leaves.filter(({ tensor }) => tensor !== null);
  if (found.length === 0) throw new NoMatrix("No source has a gradient.");
  if (answer.query === "hessian") {
    const along = sides(found.map(({ name, tensor }) => ({ name, shape: tensor!.shape })));
    return fill(along, along, (i, j) => partAt(answer.derivatives, [...found[i]!.keys, ...found[j]!.keys]));
  }
  if (!isTensor(answer.value)) throw new NoMatrix("The target is not one array.");
  const { shape } = answer.value;
  const columns = sides(found.map(({ name, tensor }) => ({ name, shape: tensor!.shape.slice(shape.length) })));
  return fill(sides([{ name: "value", shape }]), columns, (_, j) => found[j]!.tensor!);
}

function sides(arrays: readonly { name: string; shape: readonly number[] }[]): Side[] {
  let start = 0;
  return arrays.map(({ name, shape }) => {
    const size = shape.reduce((product, length) => product * length, 1);
    const side = { name, shape, start, size };
    start += size;
    return side;
  });
}

function fill(rows: readonly Side[], columns: readonly Side[], blockAt: (row: number, column: number) => Tree<Leaf> | undefined): Matrix {
  const total = (along: readonly Side[]) => along.reduce((sum, { size }) => sum + size, 0);
  const [height, width] = [total(rows), total(columns)];
  if (height * width === 0) throw new NoMatrix("The matrix has no elements.");
  if (height * width > MOST_VALUES) throw new NoMatrix(`The matrix has ${height} × ${width} elements: too many for a picture.`);
  const values = new Float64Array(height * width);
  rows.forEach((row, i) =>
    columns.forEach((column, j) => {
      const block = blockAt(i, j);
      if (!isTensor(block)) return;
      if (block.imag !== undefined) throw new NoMatrix("Complex matrices are not drawn.");
      for (let k = 0; k < row.size; k += 1)
        values.set(block.data.subarray(k * column.size, (k + 1) * column.size), (row.start + k) * width + column.start);
    }),
  );
  return { rows, columns, height, width, values };
}

/** The element of a row or a column, as `w[1, 0]`. */
export function nameAt(along: readonly Side[], place: number): string {
  const side = along.find(({ start, size }) => place < start + size);
  return side === undefined ? "" : elementName(side.name, side.shape, place - side.start);
}

export interface Counts {
  readonly zeros: number;
  readonly nonfinite: number;
  /** The largest absolute value of the finite elements. */
  readonly largest: number;
}

export function countsOf({ values }: Matrix): Counts {
  let [zeros, nonfinite, largest] = [0, 0, 0];
  for (const value of values) {
    if (value === 0) zeros += 1;
    else if (Number.isFinite(value)) largest = Math.max(largest, Math.abs(value));
    else nonfinite += 1;
  }
  return { zeros, nonfinite, largest };
}

/** A matrix of fewer rows and columns, each of whose elements stands for `high` × `wide` others. */
export interface Pooled {
  readonly height: number;
  readonly width: number;
  readonly high: number;
  readonly wide: number;
  readonly values: Float64Array;
}

/** A matrix in at most `most` rows and columns: of each part the element of the largest size, so that none but zeros disappears. */
export function pooled({ values, height, width }: Matrix, most: number): Pooled {
  const [high, wide] = [Math.ceil(height / most), Math.ceil(width / most)];
  const [rows, columns] = [Math.ceil(height / high), Math.ceil(width / wide)];
  if (high === 1 && wide === 1) return { height, width, high, wide, values };
  const small = new Float64Array(rows * columns);
  for (let row = 0; row < height; row += 1)
    for (let column = 0; column < width; column += 1) {
      const at = Math.floor(row / high) * columns + Math.floor(column / wide);
      const [value, held] = [values[row * width + column]!, small[at]!];
      if (Number.isFinite(held) && !(Math.abs(value) <= Math.abs(held))) small[at] = value;
    }
  return { height: rows, width: columns, high, wide, values: small };
}

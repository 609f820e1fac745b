import assert from "node:assert/strict";
import { test } from "node:test";

import { float64Leaf, readTensor } from "../src/service/tensor.ts";

test("float64 arrays come back bit for bit", () => {
  const data = Float64Array.of(1.5, -0, NaN, Infinity, Number.MIN_VALUE);
  const read = readTensor(float64Leaf(data, [5]));
  assert.deepEqual(new BigInt64Array(read.data.buffer), new BigInt64Array(data.buffer));
});

test("other dtypes are read", () => {
  const read = (dtype: string, bytes: number[], shape: number[]) => readTensor({ dtype, shape, base64: btoa(String.fromCharCode(...bytes)) });
  assert.deepEqual([...read("bool", [1, 0], [2]).data], [1, 0]);
  assert.deepEqual([...read("int16", [255, 255, 2, 1], [2]).data], [-1, 258]);
  assert.deepEqual([...read("uint64", [1, 0, 0, 0, 0, 0, 0, 0], []).data], [1]);
  // IEEE 754 half: 1, -2, the smallest subnormal, infinity, NaN.
  assert.deepEqual([...read("float16", [0, 60, 0, 192, 1, 0, 0, 124, 0, 126], [5]).data], [1, -2, 2 ** -24, Infinity, NaN]);
  // bfloat16: 1, -2, the nearest to 0.1, the smallest subnormal, infinity, NaN.
  assert.deepEqual([...read("bfloat16", [128, 63, 0, 192, 205, 61, 1, 0, 128, 127, 192, 127], [6]).data], [1, -2, 0.10009765625, 2 ** -133, Infinity, NaN]);
  const complex = read("complex64", [0, 0, 128, 63, 0, 0, 0, 192], []);
  assert.deepEqual([[...complex.data], [...(complex.imag ?? [])]], [[1], [-2]]);
  assert.throws(() => read("float8", [1], [1]), RangeError);
});

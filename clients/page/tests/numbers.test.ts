import assert from "node:assert/strict";
import { test } from "node:test";

import { arrayText, elementText, shortNumber, wholeTree } from "../src/answer/numbers.ts";
import type { Tensor } from "../src/service/tensor.ts";

const tensor = (data: number[], dtype = "float64", shape = [data.length]): Tensor => ({ dtype, shape, data: Float64Array.from(data) });

test("no digit of a number is made up", () => {
  for (const value of [123456789, -123456789, 1234567.89, 7654321.5, 0.000123456789, 9.87654321e-7, 1e9 + 1, 2 ** 60, -5.551115123e-18, 999999.96]) {
    const text = shortNumber(value);
    const [digits = "", power = "0"] = text.replaceAll("−", "-").split("e");
    const unit = 10 ** (Number(power) - (digits.split(".")[1]?.length ?? 0));
    assert.ok(Math.abs(Number(`${digits}e${power}`) - value) <= unit * 0.5000001, `${value} is ${text}`);
    assert.doesNotMatch(text, /[-+]/, "one sign for minus, and no plus");
  }
});

test("integers are whole as long as doubles hold them", () => {
  assert.equal(elementText(tensor([9007199254740991], "int64"), 0), "9007199254740991");
  assert.equal(elementText(tensor([-1234567890123], "int64"), 0), "−1234567890123");
  assert.match(elementText(tensor([2 ** 63], "uint64"), 0), /e/);
});

test("an array is shown as nested lists", () => {
  assert.equal(arrayText(tensor([1, 2, 3, 4, 5, 6], "float64", [2, 3])), "[[1, 2, 3], [4, 5, 6]]");
  assert.equal(arrayText(tensor([], "float64", [2, 0])), "[[], []]");
  assert.equal(arrayText(tensor([0.5], "float64", [])), "0.5");
});

test("an answer in full has all digits", () => {
  const tree = { a: [tensor([1 / 3, NaN, -Infinity])], b: tensor([1, 0], "bool"), c: null };
  assert.deepEqual(wholeTree(tree), { a: [[1 / 3, "NaN", "-Infinity"]], b: [true, false], c: null });
  const complex: Tensor = { ...tensor([1], "complex128", []), imag: Float64Array.of(-2) };
  assert.deepEqual(wholeTree(complex), { re: 1, im: -2 });
  assert.equal(typeof wholeTree(tensor([2 ** 60], "int64", [])), "string");
});

import assert from "node:assert/strict";
import { test } from "node:test";

import { briefNumber, bytesText, expression, fittedText, secondsText, summaryText } from "../src/tape/texts.ts";

const node = (op: string, parameters?: string) => ({ slot: 0, op, operands: [], dtype: "float64", shape: [], place: {}, ...(parameters ? { parameters } : {}) });

test("a number keeps the digits that are asked for", () => {
  const shown = (value: number, digits: number) => briefNumber(value, digits);
  assert.deepEqual(
    [shown(0.1, 4), shown(-1 / 3, 3), shown(123456.7, 3), shown(5e-17, 4), shown(-0.00001234, 3), shown(20, 2), shown(1e22, 6), shown(0, 2)],
    ["0.1", "−0.333", "1.23e5", "5e−17", "−1.23e−5", "20", "1e22", "0"],
  );
  assert.deepEqual([NaN, Infinity, -Infinity].map((value) => briefNumber(value, 3)), ["NaN", "∞", "−∞"]);
});

test("a rounded number is within half a unit of its last digit", () => {
  for (let power = -12; power < 12; power += 1)
    for (const digits of [2, 3, 4, 6]) {
      const value = Math.PI * 10 ** power;
      const read = Number(briefNumber(value, digits).replace("−", "-"));
      assert.ok(Math.abs(read - value) <= 0.5 * 10 ** (power + 1 - digits) * 1.000001, `${value} ${digits}`);
    }
});

test("arrays lose digits before they lose elements", () => {
  assert.equal(fittedText({ value: [1 / 3, -2 / 3] }, 20), "[0.3333, −0.6667]");
  assert.equal(fittedText({ value: [1 / 3, -2 / 3] }, 14), "[0.33, −0.67]");
  assert.equal(fittedText({ value: [[1, 2], [3, 4.5]] }, 12), "1 … 4.5");
  assert.equal(fittedText({ value: [1, "NaN", 3, 4] }, 10), "4 elements");
  assert.equal(fittedText({ value: [true, false] }, 20), "[true, false]");
  assert.equal(fittedText({ value: { re: 1, im: -2 } }, 20), "1 − 2i");
  assert.equal(fittedText({ value: [] }, 20), "[]");
  assert.equal(fittedText({ value: { re: -1.25e-17, im: -1.25e-17 } }, 18), "…");
});

test("a summary of many elements is their range", () => {
  assert.equal(summaryText({ min: -1, max: 2, mean: 0.25, nonfinite: 3 }), "−1 … 2, mean 0.25, 3 not finite");
  assert.equal(fittedText({ min: 0.5, max: 0.5, mean: 0.5, nonfinite: 0 }, 20), "all 0.5");
  assert.equal(fittedText({ min: null, max: null, mean: null, nonfinite: 70 }, 20), "70 not finite");
});

test("expressions are written as in programs", () => {
  assert.equal(expression(node("power"), ["x", "2"]), "x ** 2");
  assert.equal(expression(node("negative"), ["x"]), "−x");
  assert.equal(expression(node("getitem", "pattern=(0,)"), ["x"]), "x[0]");
  assert.equal(expression(node("getitem", "pattern=(1, -2)"), ["x"]), "x[1, -2]");
  assert.equal(expression(node("getitem", "pattern=(Span(start=None),)"), ["x"]), "x[…]");
  assert.equal(expression(node("where"), ["a", "b", "c"]), "where(a, b, c)");
});

test("sizes and times have their units", () => {
  assert.deepEqual([0, 1000, 1024, 3_500_000, 2 ** 40].map(bytesText), ["0 B", "1000 B", "1 KiB", "3.34 MiB", "1024 GiB"]);
  assert.deepEqual([1.234e-6, 0.0456, 2].map(secondsText), ["1.23 µs", "45.6 ms", "2 s"]);
});

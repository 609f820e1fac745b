import assert from "node:assert/strict";
import { test } from "node:test";

import { faultOf } from "../src/model/jsonFault.ts";

test("the place is where reading fails", () => {
  const cases = { '{"x": NaN}': 6, '{"x": [1, 2}': 11, "{'x': 1}": 1, '{"x": 1,}': 8, '{"x": 1': 7, '{"x": 1} 2': 9, '{"x":\n  [1 2]}': 11, "": 0 };
  for (const [text, at] of Object.entries(cases)) assert.equal(faultOf(text)?.at, at, text);
  assert.match(faultOf('{"x":\n  [1 2]}')?.message ?? "", /line 2, column 6/);
});

test("numbers that a browser would change are refused where they are", () => {
  const cases = { '{"x": 9007199254740993}': 6, '{"a": "1e999", "x": -1e400}': 20, "[1, 18446744073709551615]": 4, '{"\\"": 1e309}': 7 };
  for (const [text, at] of Object.entries(cases)) assert.equal(faultOf(text)?.at, at, text);
});

test("all other numbers are read", () => {
  const texts = ["9007199254740992", "-9007199254740991", "1e300", "1E-400", "0.12345678901234567890", "12345678901234567000", '"9007199254740993 1e999"', JSON.stringify([2 ** 62, 1e22])];
  for (const text of texts) assert.equal(faultOf(text), null, text);
});

import assert from "node:assert/strict";
import { test } from "node:test";

import { open, saved, sourcesText } from "../src/model/document.ts";
import { generated } from "../src/variables/generate.ts";

test("sources are the same after they were shown", () => {
  for (const sources of ["x", "a, b", " x", '"x"', ["x"], ["x", "y"], ["x", "a, b"], ["x", " y"], ["[x", "y"], "[x, y]", '{"a": "x"', { w: "layer.w", rest: ["x", null] }, []]) {
    open({ program: "x", sources }, generated);
    assert.deepEqual(saved().sources, sources, sourcesText.value);
  }
});

test("plain names are shown without quotes", () => {
  open({ program: "x", sources: ["x", "layer.w"] }, generated);
  assert.equal(sourcesText.value, "x, layer.w");
});

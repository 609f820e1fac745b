import assert from "node:assert/strict";
import { test } from "node:test";

import { documentOf, fragmentOf } from "../src/model/link.ts";

test("a document comes back from its link", async () => {
  const document = { program: "x + «é»\n", variables: { "a.b": [1, "NaN"], c: { re: 1, im: 2 } }, sources: { w: ["c"] } };
  const fragment = await fragmentOf(document);
  assert.match(fragment, /^#v1=[\w-]+$/);
  assert.deepEqual(await documentOf(fragment), document);
});

test("no fragment is no document", async () => {
  assert.equal(await documentOf(""), null);
  assert.equal(await documentOf("#"), null);
});

test("other versions, damage and other documents say what they are", async () => {
  await assert.rejects(documentOf("#v2=abc"), /another version/);
  const fragment = await fragmentOf({ program: "x" });
  await assert.rejects(documentOf(fragment.slice(0, -4)), /damaged/);
  await assert.rejects(documentOf("#v1=%%"), /damaged/);
  for (const wrong of [[], { program: 3 }, { program: "x", query: "delete" }, { program: "x", variables: [1] }, { program: "x", generated: { a: 3 } }, { program: "x", sources: JSON.parse("[".repeat(500) + "]".repeat(500)) }])
    await assert.rejects(documentOf(await fragmentOf(wrong as never)), /no program/);
});

test("a link that inflates without end is refused", async () => {
  const fragment = await fragmentOf({ program: "x".repeat(20 << 20) });
  assert.ok(fragment.length < 40_000);
  await assert.rejects(documentOf(fragment), /damaged/);
});

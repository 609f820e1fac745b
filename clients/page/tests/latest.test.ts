import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";

import { signal } from "@preact/signals";

import type { JsonObject } from "../src/service/json.ts";
import { LatestRequest } from "../src/service/latest.ts";

/** Answers what it was asked, after as many milliseconds as it says; unless it is to refuse. */
const seen: { asked: JsonObject; isCancelled: boolean }[] = [];
const server = createServer((request, response) => {
  let text = "";
  request.on("data", (part) => (text += part));
  request.on("end", () => {
    const asked = JSON.parse(text) as JsonObject;
    const entry = { asked, isCancelled: false };
    seen.push(entry);
    response.on("close", () => (entry.isCancelled = !response.writableFinished));
    const refused = { code: "invalid_request", title: "Invalid request", detail: "no" };
    setTimeout(() => {
      response.statusCode = asked["refuse"] ? 422 : 200;
      response.end(JSON.stringify(asked["refuse"] ? refused : asked));
    }, Number(asked["milliseconds"] ?? 0));
  });
});
let path = "";
before(async () => {
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  path = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
after(() => server.close());

async function until(isTrue: () => boolean): Promise<void> {
  const end = Date.now() + 5000;
  while (!isTrue()) {
    assert.ok(Date.now() < end, "in time");
    await pause(5);
  }
}

function following(first: JsonObject | null) {
  seen.length = 0;
  const latest = new LatestRequest<JsonObject>();
  const body = signal(first);
  const stop = latest.follow(() => body.value && { path, body: body.value, read: (document) => document });
  return { latest, body, stop };
}

test("of changes in quick succession only the last is asked", async () => {
  const { latest, body, stop } = following({ n: 1 });
  body.value = { n: 2 };
  body.value = { n: 3 };
  await until(() => latest.answer.value !== null);
  assert.deepEqual(latest.answer.value, { n: 3 });
  assert.equal(seen.length, 1);
  stop();
});

test("a change cancels what is being answered", async () => {
  const { latest, body, stop } = following({ n: 1, milliseconds: 2000 });
  await until(() => seen.length === 1);
  assert.ok(latest.isAsking.value);
  body.value = { n: 2 };
  await until(() => latest.answer.value !== null);
  assert.deepEqual(latest.answer.value, { n: 2 });
  await until(() => seen[0]?.isCancelled === true);
  assert.ok(!latest.isAsking.value);
  stop();
});

test("the last answer stays while a later request is refused", async () => {
  const { latest, body, stop } = following({ n: 1 });
  await until(() => latest.answer.value !== null);
  body.value = { refuse: true };
  await until(() => latest.problem.value !== null);
  assert.equal(latest.problem.value?.code, "invalid_request");
  assert.deepEqual(latest.answer.value, { n: 1 });
  body.value = { n: 4 };
  await until(() => latest.problem.value === null);
  assert.deepEqual(latest.answer.value, { n: 4 });
  stop();
});

test("a problem of what was asked before is not shown while an answer takes long", async () => {
  const { latest, body, stop } = following({ n: 1 });
  await until(() => latest.answer.value !== null);
  assert.ok(!latest.isSlow.value);
  body.value = { refuse: true };
  await until(() => latest.problem.value !== null);
  body.value = { n: 2, milliseconds: 1000 };
  await until(() => latest.isSlow.value);
  assert.equal(latest.problem.value, null);
  // It goes on to be slow while more is typed.
  body.value = { n: 3, milliseconds: 1000 };
  await until(() => seen.length === 4);
  assert.ok(latest.isSlow.value);
  await until(() => latest.answer.value?.["n"] === 3);
  assert.ok(!latest.isSlow.value);
  stop();
});

test("what cannot be asked has its problem", async () => {
  const { latest, stop } = following({ n: 1, milliseconds: 2000 });
  await until(() => latest.isAsking.value);
  const problem = { code: "unreadable", title: "Unreadable", detail: "no" };
  latest.refuse(problem);
  assert.equal(latest.problem.value, problem);
  assert.ok(!latest.isAsking.value);
  stop();
});

test("nothing is asked without a question, or after the end", async () => {
  const { latest, body, stop } = following({ n: 1, milliseconds: 2000 });
  await until(() => seen.length === 1);
  body.value = null;
  await until(() => seen[0]?.isCancelled === true);
  body.value = { n: 2 };
  stop();
  body.value = { n: 3 };
  await pause(100);
  assert.equal(seen.length, 1);
  assert.equal(latest.answer.value, null);
});

/** The answer to what is typed: asked after each change, one request at a time. */

import { effect, signal, untracked } from "@preact/signals";

import { apiKey, ask, type Problem, ServiceError } from "../service/client.ts";
import type { JsonObject, Tree } from "../service/json.ts";
import { readTree, type Tensor } from "../service/tensor.ts";
import { program, type Query, query, request } from "./document.ts";
import { variablesFault } from "./variables.ts";

export type Leaf = Tensor | string | null;

export interface Answer {
  readonly query: Query;
  /** What was asked. */
  readonly request: JsonObject;
  /** The answer as it came; its arrays are leaves with bytes. */
  readonly document: JsonObject;
  /** The value of the target, or the outputs. */
  readonly value: Tree<Leaf>;
  /** Gradients, Jacobian or Hessian in the structure of the sources; null for values alone. */
  readonly derivatives: Tree<Leaf>;
  /** Gradients, also of a Hessian. */
  readonly gradients: Tree<Leaf>;
  readonly milliseconds: number;
}

/** The last answer; it stays while a later request is answered or refused. */
export const answer = signal<Answer | null>(null);
/** Why the last request was refused. */
export const problem = signal<Problem | null>(null);
export const isAsking = signal(false);

/** Shorter than the time between two keys, so that words are not asked letter by letter. */
const PAUSE_MILLISECONDS = 25;
const RETRY_MILLISECONDS = 2000;

let timer: ReturnType<typeof setTimeout> | undefined;
let stop: AbortController | undefined;

/** Answer after each change from now on; returns what ends that. */
export function answerChanges(): () => void {
  return effect(() => {
    const asked = { query: query.value, request: request.value };
    void apiKey.value;
    stop?.abort();
    clearTimeout(timer);
    if (variablesFault.value !== null) return;
    untracked(() => {
      if (program.value.trim() === "") {
        answer.value = null;
        problem.value = null;
        isAsking.value = false;
        return;
      }
      timer = setTimeout(() => void send(asked), PAUSE_MILLISECONDS);
    });
  });
}

async function send(asked: { query: Query; request: JsonObject }): Promise<void> {
  const own = new AbortController();
  stop = own;
  isAsking.value = true;
  const start = performance.now();
  try {
    const document = await ask(`v1/${asked.query}`, { ...asked.request, encoding: "base64" }, own.signal);
    if (own.signal.aborted) return;
    const gradients = readTree(document["gradients"] ?? null);
    answer.value = {
      ...asked,
      document,
      value: readTree(document["value"] ?? document["outputs"] ?? null),
      derivatives: readTree(document["hessian"] ?? document["jacobian"] ?? document["gradients"] ?? null),
      gradients,
      milliseconds: performance.now() - start,
    };
    problem.value = null;
  } catch (error) {
    if (own.signal.aborted) return;
    if (!(error instanceof ServiceError)) throw error;
    problem.value = error.problem;
    const { code, status } = error.problem;
    if (code === "unreachable" || status === 503) timer = setTimeout(() => void send(asked), RETRY_MILLISECONDS);
  } finally {
    if (stop === own) isAsking.value = false;
  }
}

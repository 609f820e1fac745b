/** The answer to what is typed. */

import type { JsonObject, Tree } from "../service/json.ts";
import { LatestRequest } from "../service/latest.ts";
import { readTree, type Tensor } from "../service/tensor.ts";
import { program, type Query, query, request, unreadable } from "./document.ts";

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

const latest = new LatestRequest<Answer>();
export const { answer, problem, isAsking, isSlow } = latest;

/** Answer after each change from now on; returns what ends that. */
export function answerChanges(): () => void {
  return latest.follow(() => {
    const asked = { query: query.value, request: request.value };
    if (unreadable.value !== null) {
      latest.refuse(unreadable.value);
      return null;
    }
    if (program.value.trim() === "") {
      latest.clear();
      return null;
    }
    return {
      path: `v1/${asked.query}`,
      body: { ...asked.request, encoding: "base64" },
      read: (document, milliseconds) => ({
        ...asked,
        document,
        value: readTree(document["value"] ?? document["outputs"] ?? null),
        derivatives: readTree(document["hessian"] ?? document["jacobian"] ?? document["gradients"] ?? null),
        gradients: readTree(document["gradients"] ?? null),
        milliseconds,
      }),
    };
  });
}

/** How the service computes what is asked: its answer to `POST /v1/explain`, while a view shows it. */

import { signal } from "@preact/signals";

import type { Warning } from "../answer/Warnings.tsx";
import { program, type Query, query, request, unreadable } from "../model/document.ts";
import type { Place } from "../service/client.ts";
import type { Json, JsonObject } from "../service/json.ts";
import { LatestRequest } from "../service/latest.ts";

/** An operation on a tape; one with several results has neither dtype nor shape. */
export interface Listed {
  readonly slot: number;
  readonly op: string;
  readonly parameters?: string;
  readonly operands: readonly number[];
  readonly dtype: string | null;
  readonly shape: readonly number[] | null;
  readonly place: Place;
}

/** An instruction that is replayed. */
export interface Instruction extends Listed {
  readonly derivative: boolean;
  readonly flops: number;
  readonly bytes: number;
  readonly seconds?: number;
  /** The number that it is, if it is one. */
  readonly constant?: Json;
  /** What each pass of a loop does, or each block of a fused kernel. */
  readonly body?: readonly Instruction[];
}

/** An array: all elements, or the range and the mean of the finite ones. */
export type Summary =
  | { readonly value: Json }
  | { readonly min: number | null; readonly max: number | null; readonly mean: number | string | null; readonly nonfinite: number };

/** A recorded instruction, with its value and with the derivative of the target with respect to it. */
export interface GraphNode extends Listed {
  readonly name?: string;
  readonly value: Summary | null;
  readonly adjoint: Summary | null;
  readonly is_source: boolean;
  readonly is_target: boolean;
}

export interface Explained {
  readonly query: Query;
  readonly instructions: readonly Instruction[];
  readonly stages: { readonly [pass: string]: number };
  readonly peak_bytes: number;
  readonly seconds?: number;
  readonly nodes: readonly GraphNode[] | null;
  readonly warnings?: readonly Warning[];
}

export const explained = new LatestRequest<Explained>();

/** The request whose instructions are to be timed: another one is explained without times. */
const timed = signal<{ readonly request: JsonObject } | null>(null);

/** Measure the instructions of what is asked now. */
export function measure(): void {
  timed.value = { request: request.value };
}

/** Explain after each change from now on; returns what ends that. */
export function explainChanges(): () => void {
  return explained.follow(() => {
    const asked = query.value;
    const body = { ...request.value, query: asked, time: timed.value?.request === request.value };
    if (unreadable.value !== null) {
      explained.refuse(unreadable.value);
      return null;
    }
    if (program.value.trim() === "") {
      explained.clear();
      return null;
    }
    return { path: "v1/explain", body, read: (document) => ({ ...document, query: asked }) as unknown as Explained };
  });
}

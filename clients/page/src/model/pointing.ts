/** What the pointer is on: a line of the program, a node of the recorded tape, or an instruction. */

import { signal } from "@preact/signals";

import type { Place } from "../service/client.ts";

export interface Pointed {
  readonly line?: number;
  /** The key of a place, which a node has in common with the instructions that compute it. */
  readonly place?: string;
  /** A node of the recorded tape. */
  readonly slot?: number;
}

/** All views show what belongs to it; null if the pointer is on nothing. */
export const pointed = signal<Pointed | null>(null);

/** The line of the program that was asked for last; null before. */
export const visited = signal<{ readonly line: number } | null>(null);

/** Equal for equal places: one operation of the program, or one variable. */
export function placeKey({ line, column, op, id }: Place): string {
  return line === undefined ? (id ?? "") : `${line}:${column ?? 0}:${op ?? id ?? ""}`;
}

/** What is pointed at by pointing at an operation: its line, too. */
export function pointedAt(place: Place, slot?: number): Pointed {
  const { line } = place;
  return { place: placeKey(place), ...(line === undefined ? {} : { line }), ...(slot === undefined ? {} : { slot }) };
}

/** Whether an operation belongs to what is pointed at. */
export function isPointed(at: Pointed | null, place: Place, slot?: number): boolean {
  if (at === null) return false;
  if (at.slot !== undefined && slot !== undefined) return at.slot === slot;
  if (at.place !== undefined) return at.place === placeKey(place);
  return at.line !== undefined && at.line === place.line;
}

/** What the pointer is on: a line of the program, or an instruction of the tape. */

import { signal } from "@preact/signals";

export interface Pointed {
  readonly line?: number;
  /** A node of the recorded tape. */
  readonly slot?: number;
}

/** All views show what belongs to it; null if the pointer is on nothing. */
export const pointed = signal<Pointed | null>(null);

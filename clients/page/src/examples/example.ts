/** What an example is. */

import type { Saved } from "../model/document.ts";

export interface Example extends Saved {
  readonly title: string;
  /** Two sentences: what is computed, and what to look at or try. */
  readonly about: string;
}

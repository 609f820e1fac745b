/** Whether an operation belongs to what is pointed at: a component is drawn anew when that changes. */

import { computed } from "@preact/signals";
import { useMemo } from "preact/hooks";

import { isPointed, pointed } from "../model/pointing.ts";
import type { Place } from "../service/client.ts";

/** `slot` is of a node. */
export function useIsPointed(place: Place, slot?: number): boolean {
  return useMemo(() => computed(() => isPointed(pointed.value, place, slot)), [place, slot]).value;
}

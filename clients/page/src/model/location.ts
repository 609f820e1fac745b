/** The address of the page holds what is typed, so that a reload or a bookmark loses nothing. */

import { effect } from "@preact/signals";

import { generate } from "../variables/generate.ts";
import { large, open, saved } from "./document.ts";
import { documentOf, fragmentOf, MOST_CHARACTERS } from "./link.ts";
import { notice } from "./notice.ts";

const PAUSE_MILLISECONDS = 400;

/** Open the document of the address; false if it holds none. */
export async function openLink(): Promise<boolean> {
  try {
    const document = await documentOf(location.hash);
    if (document !== null) open(document, generate);
    return document !== null;
  } catch (error) {
    notice.value = error instanceof Error ? error.message : String(error);
    return false;
  }
}

/** Keep the address up to date from now on, and follow it when it is changed. */
export function keepInLink(): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let own = location.hash;
  effect(() => {
    const document = saved();
    void large.value;
    clearTimeout(timer);
    timer = setTimeout(() => {
      void fragmentOf(document).then((fragment) => {
        own = fragment.length > MOST_CHARACTERS ? "" : fragment;
        history.replaceState(null, "", own === "" ? location.pathname : own);
      });
    }, PAUSE_MILLISECONDS);
  });
  addEventListener("hashchange", () => {
    if (location.hash !== own) void openLink();
  });
}

/** The address of the page holds what is typed, so that a reload or a bookmark loses nothing. */

import { computed, effect, signal } from "@preact/signals";

import { EXAMPLES, type Example } from "../examples/examples.ts";
import { generated } from "../variables/generate.ts";
import { large, open, program, type Saved, saved } from "./document.ts";
import { documentOf, fragmentOf, MOST_CHARACTERS } from "./link.ts";
import { notice } from "./notice.ts";
import { variablesFault } from "./variables.ts";

const PAUSE_MILLISECONDS = 400;
const TOO_LONG =
  "This is too long for a link, so the address does not hold it any more: copy what you want to keep before you leave the page.";

const opened = signal<Example | null>(null);
/** The example that is shown: until no line of it is left. */
export const example = computed<Example | null>(() => {
  const lines = opened.value?.program.split("\n").filter((line) => line.trim() !== "") ?? [];
  return lines.some((line) => program.value.includes(line)) ? opened.value : null;
});
/** Whether what is typed is too long for the address. */
const isTooLong = signal(false);

/** Open the document of the address; false if it holds none, or a damaged one. */
export async function openLink(): Promise<boolean> {
  try {
    const document = await documentOf(location.hash);
    if (document === null) return false;
    show(document);
    opened.value = EXAMPLES.find((one) => one.program === document.program) ?? null;
    return true;
  } catch (error) {
    notice.value = error instanceof Error ? error.message : String(error);
    return false;
  }
}

/** The room for what a link's formulas make, in bytes of base64: more could not be sent. */
const MOST_GENERATED = 60_000_000;
const MOST_FAULTS = 3;

function show(document: Saved): void {
  let room = MOST_GENERATED;
  open(document, (text) => {
    const variable = room > 0 ? generated(text) : null;
    room -= variable?.leaf?.base64.length ?? 0;
    return room > 0 && variable !== null ? variable : { kind: "generated", text, fault: "the other variables leave no room for it", leaf: null };
  });
  const faults = [...large.value].flatMap(([path, value]) =>
    value.kind === "generated" && value.fault !== null ? [`${path} has the formula ${value.text}, which gives no values: ${value.fault}.`] : [],
  );
  if (faults.length > MOST_FAULTS) faults.splice(MOST_FAULTS, faults.length, `So have ${faults.length - MOST_FAULTS} others.`);
  if (faults.length > 0) notice.value = faults.join(" ");
}

/** Open an example; the browser's Back returns to what was typed before. */
export async function openExample(chosen: Example): Promise<void> {
  await write();
  history.pushState(null, "", location.href);
  showExample(chosen);
  await write();
}

export function showExample(shown: Example): void {
  show(shown);
  opened.value = shown;
}

/** The fragment that this page has written last. */
let own = "";
let writes = 0;

async function write(): Promise<void> {
  writes += 1;
  const write = writes;
  const fragment = await fragmentOf(saved());
  if (write !== writes) return;
  isTooLong.value = fragment.length > MOST_CHARACTERS;
  own = isTooLong.value ? "" : fragment;
  history.replaceState(null, "", own === "" ? location.pathname : own);
}

/** Keep the address up to date from now on, and follow it when it is changed. */
export function keepInLink(): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  // A link that could not be opened stays in the address until something is typed.
  let isFirst = notice.value !== null;
  own = location.hash;
  effect(() => {
    void saved();
    void large.value;
    if (!isFirst) {
      clearTimeout(timer);
      timer = setTimeout(() => void write(), PAUSE_MILLISECONDS);
    }
    isFirst = false;
  });
  effect(() => {
    if (isTooLong.value) notice.value = TOO_LONG;
    else if (notice.peek() === TOO_LONG) notice.value = null;
  });
  addEventListener("hashchange", () => {
    if (location.hash === own) return;
    void openLink().then((isOpen) => {
      // What is typed stays, and so does its address.
      if (!isOpen && location.hash !== "") history.replaceState(null, "", own === "" ? location.pathname : own);
    });
  });
  addEventListener("beforeunload", (event) => {
    if (program.value !== "" && (isTooLong.value || variablesFault.value !== null)) event.preventDefault();
  });
}

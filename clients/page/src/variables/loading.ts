/** Loading files: dropped anywhere on the page, or chosen by the button. */

import { signal } from "@preact/signals";

import { setLarge } from "../model/document.ts";
import { loadLimits } from "../model/limits.ts";
import { load } from "./files.ts";
import { FileError } from "./npy.ts";

export interface FileNote {
  readonly text: string;
  readonly isFault: boolean;
}

/** What became of the files that were loaded last. */
export const fileNotes = signal<readonly FileNote[]>([]);
export const isLoading = signal(false);
/** Whether files are held over the page. */
export const isDropping = signal(false);

/** Load files as variables; one file may be given a name. */
export async function loadFiles(files: readonly File[], name = ""): Promise<void> {
  isLoading.value = true;
  fileNotes.value = [];
  for (const file of files) {
    const note = await loadOne(file, files.length === 1 ? name : "");
    fileNotes.value = [...fileNotes.value, note];
  }
  isLoading.value = false;
}

async function loadOne(file: File, name: string): Promise<FileNote> {
  try {
    const mostBytes = await loadLimits();
    if (mostBytes === null) throw new FileError("the service does not answer, so it is not known how large a file may be. Try again");
    const { variables, message } = await load(file, name, mostBytes);
    for (const [path, variable] of variables) setLarge(path, variable);
    return { text: message, isFault: false };
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    return { text: `${file.name} is not loaded: ${error.message}.`, isFault: true };
  }
}

/** Take files that are dropped on the page: left to the browser, they would replace it, and left to an editor, its text. */
export function takeDroppedFiles(): void {
  const take = (event: DragEvent) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    event.stopPropagation();
    isDropping.value = event.type === "dragover";
    if (event.type !== "drop") return;
    const row = event.composedPath().find((part) => part instanceof HTMLElement && part.dataset["path"] !== undefined);
    void loadFiles([...event.dataTransfer.files], row instanceof HTMLElement ? row.dataset["path"] : "");
  };
  addEventListener("dragover", take, { capture: true });
  addEventListener("drop", take, { capture: true });
  addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) isDropping.value = false;
  });
}

/** The operations of the language, with their documentation. */

import { signal } from "@preact/signals";

import { ask } from "../service/client.ts";

export interface Operation {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly signature: string;
  readonly family: string;
  readonly differentiable: boolean;
  readonly doc: string;
}

export const operations = signal<readonly Operation[]>([]);

/** Load the operations; without them there is no completion, and all else works. */
export async function loadOperations(): Promise<void> {
  const document = await ask("v1/ops", null);
  operations.value = document["ops"] as unknown as Operation[];
}

/** The first sentence of an operation's documentation, without markup. */
export function summary(operation: Operation): string {
  const [first = ""] = operation.doc.split(/(?<=\.)\s/);
  return first.replaceAll("`", "");
}

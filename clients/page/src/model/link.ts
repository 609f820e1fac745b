/** Links that hold a document: `#v1=` and base64url of the deflated JSON. */

import { isObject, jsonOf, type JsonObject } from "../service/json.ts";
import { base64Of, bytesOf } from "../service/tensor.ts";
import { QUERIES, type Query, type Saved } from "./document.ts";
import { isTooDeep } from "./variables.ts";

const PREFIX = "#v1=";
/** Longer links are cut off by some programs that send them. */
export const MOST_CHARACTERS = 32_000;
/** A link that inflates to more is none of ours. */
const MOST_BYTES = 16 << 20;

/** The fragment of a document's link, with its `#`. */
export async function fragmentOf(document: Saved): Promise<string> {
  const bytes = await through(new TextEncoder().encode(jsonOf(document as unknown as JsonObject)), new CompressionStream("deflate-raw"));
  return PREFIX + base64Of(bytes).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** The document of a fragment; null for one that holds none. Throws an Error that says what is wrong. */
export async function documentOf(fragment: string): Promise<Saved | null> {
  if (fragment === "" || fragment === "#") return null;
  if (!fragment.startsWith(PREFIX)) throw new Error("The link is of another version of this page.");
  let document: unknown;
  try {
    const packed = fragment.slice(PREFIX.length).replaceAll("-", "+").replaceAll("_", "/");
    const bytes = await through(bytesOf(packed), new DecompressionStream("deflate-raw"));
    document = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new Error("The link is damaged: a part of it is missing or changed.");
  }
  return check(document);
}

function check(document: unknown): Saved {
  const fail = (): never => {
    throw new Error("The link holds something that is no program with its values.");
  };
  if (!isObject(document) || typeof document["program"] !== "string" || isTooDeep(document)) return fail();
  const { variables, query, generated } = document;
  if (variables !== undefined && !isObject(variables)) return fail();
  if (query !== undefined && !QUERIES.includes(query as Query)) return fail();
  if (generated !== undefined && !(isObject(generated) && Object.values(generated).every((text) => typeof text === "string"))) return fail();
  return document as unknown as Saved & JsonObject;
}

/** Bytes through a compressor or a decompressor. */
async function through(bytes: Uint8Array<ArrayBuffer>, transform: CompressionStream | DecompressionStream): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([bytes]).stream().pipeThrough(transform);
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (const part of stream as unknown as AsyncIterable<Uint8Array<ArrayBuffer>>) {
    size += part.length;
    if (size > MOST_BYTES) throw new RangeError("too long");
    parts.push(part);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

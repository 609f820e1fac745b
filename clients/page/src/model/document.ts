/** What is asked: a program, its variables, the sources, and which derivative. */

import { computed, signal } from "@preact/signals";

import type { Problem } from "../service/client.ts";
import type { Json, JsonObject } from "../service/json.ts";
import type { Bytes } from "../service/tensor.ts";
import { faultOf } from "./jsonFault.ts";
import { compact, variables, variablesProblem, variablesText, withLeaf } from "./variables.ts";

export const QUERIES = ["gradient", "jacobian", "hessian", "evaluate"] as const;
export type Query = (typeof QUERIES)[number];

export const program = signal("");
export const query = signal<Query>("gradient");
/** Sources as typed: names with commas, or JSON; empty means all variables. */
export const sourcesText = signal("");

/** A variable that is too large to be typed: made from a formula, or read from a file. */
export type Large = Generated | FromFile;

export interface Generated {
  readonly kind: "generated";
  /** The formula as typed. */
  readonly text: string;
  /** Why the formula gives no values; `leaf` is then that of the last formula that did. */
  readonly fault: string | null;
  readonly leaf: Bytes | null;
}

export interface FromFile {
  readonly kind: "file";
  readonly name: string;
  readonly leaf: Bytes;
}

/** Such variables by their dotted paths. */
export const large = signal<ReadonlyMap<string, Large>>(new Map());

export function setLarge(path: string, value: Large | null): void {
  const changed = new Map(large.value);
  if (value === null) changed.delete(path);
  else changed.set(path, value);
  large.value = changed;
}

/** All variables as they are sent. */
export const sentVariables = computed<JsonObject>(() => {
  let sent: Json = variables.value;
  for (const [path, { leaf }] of large.value) if (leaf !== null) sent = withLeaf(sent, path, leaf);
  return sent as JsonObject;
});

/** The sources in the structure of the request; undefined for all variables. */
export function readSources(text: string): Json | undefined {
  const trimmed = text.trim();
  if (trimmed === "") return undefined;
  if (isJson(trimmed)) return faultOf(trimmed) === null ? (JSON.parse(trimmed) as Json) : trimmed;
  const names = trimmed.split(",").map((name) => name.trim());
  return names.length === 1 ? trimmed : names;
}

function isJson(text: string): boolean {
  return /^[[{"]/.test(text);
}

/** Why nothing can be asked: variables or sources that cannot be read; null if they can. */
export const unreadable = computed<Problem | null>(() => {
  if (variablesProblem.value !== null || query.value === "evaluate") return variablesProblem.value;
  const text = sourcesText.value.trim();
  const fault = isJson(text) ? faultOf(text) : null;
  return fault && { code: "unreadable_sources", title: "The sources cannot be read", detail: fault.message, hint: "or write names with commas between them: x, layer.w" };
});

/** The request's document, without its encoding. */
export const request = computed<JsonObject>(() => {
  const sources = query.value === "evaluate" ? undefined : readSources(sourcesText.value);
  // Derivatives are answered under the names that were typed, not under their numbers.
  const named = sources !== undefined && isNames(sources) && !sourcesText.value.trimStart().startsWith("[");
  const document: JsonObject = { program: program.value, variables: sentVariables.value };
  if (sources !== undefined) document["sources"] = named ? Object.fromEntries(sources.map((name) => [name, name])) : sources;
  return document;
});

/** A document as links and examples hold it: variables from files are left out. */
export interface Saved {
  readonly program: string;
  readonly variables?: JsonObject;
  readonly sources?: Json;
  readonly query?: Query;
  /** Formulas of generated variables, by path. */
  readonly generated?: { readonly [path: string]: string };
}

export function saved(): Saved {
  const sources = readSources(sourcesText.value);
  const generated = [...large.value].flatMap(([path, value]) => (value.kind === "generated" ? [[path, value.text]] : []));
  return {
    program: program.value,
    variables: variables.value,
    ...(sources === undefined ? {} : { sources }),
    ...(query.value === "gradient" ? {} : { query: query.value }),
    ...(generated.length === 0 ? {} : { generated: Object.fromEntries(generated) as { [path: string]: string } }),
  };
}

/** Show a document; `generate` makes its generated variables from their formulas. */
export function open(document: Saved, generate: (text: string) => Generated): void {
  program.value = document.program;
  variablesText.value = compact(document.variables ?? {});
  sourcesText.value = document.sources === undefined ? "" : textOf(document.sources);
  query.value = document.query ?? "gradient";
  large.value = new Map(Object.entries(document.generated ?? {}).map(([path, text]) => [path, generate(text)]));
}

/** Sources as they would be typed: names, or JSON for all that these would not give again. */
function textOf(sources: Json): string {
  const json = JSON.stringify(sources);
  const names = isNames(sources) ? sources.join(", ") : typeof sources === "string" ? sources : json;
  return JSON.stringify(readSources(names)) === json ? names : json;
}

function isNames(sources: Json): sources is string[] {
  return Array.isArray(sources) && sources.length > 1 && sources.every((name) => typeof name === "string");
}

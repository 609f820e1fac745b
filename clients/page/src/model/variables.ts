/** Variables: the text that is typed, what it means, and changes of single leaves. */

import { computed, signal } from "@preact/signals";

import { isObject, type Json, type JsonObject } from "../service/json.ts";

/** The JSON text of the variables. */
export const variablesText = signal("{}");

export interface Fault {
  readonly message: string;
  /** The offset in the text at which reading failed, if the browser tells. */
  readonly at?: number;
}

/** The variables, or why the text is none. */
const read = computed<{ variables: JsonObject } | { fault: Fault }>(() => readVariables(variablesText.value));

let last: JsonObject = {};
/** The variables of the last text that could be read. */
export const variables = computed<JsonObject>(() => {
  if ("variables" in read.value) last = read.value.variables;
  return last;
});

/** Why the text cannot be read; null if it can. */
export const variablesFault = computed<Fault | null>(() => ("fault" in read.value ? read.value.fault : null));

export function readVariables(text: string): { variables: JsonObject } | { fault: Fault } {
  if (text.trim() === "") return { variables: {} };
  let document: Json;
  try {
    document = JSON.parse(text);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const found = /position (\d+)/.exec(message);
    return { fault: found ? { message, at: Number(found[1]) } : { message } };
  }
  if (!isObject(document)) return { fault: { message: "variables are an object: {\"x\": [1, 2]}", at: 0 } };
  return { variables: document as JsonObject };
}

/** An object is a leaf, not a nesting level, when it has one of these members. */
const MARKS = ["value", "base64", "data", "ref", "indices", "row_splits"];

export function isLeaf(value: Json): boolean {
  if (Array.isArray(value)) return isArray(value);
  if (!isObject(value)) return true;
  return MARKS.some((mark) => mark in value) || ("re" in value && "im" in value);
}

/** Whether a list contains, at any depth, only what an array contains. */
export function isArray(value: Json): boolean {
  if (Array.isArray(value)) return value.every(isArray);
  if (typeof value === "string") return value === "NaN" || value === "Infinity" || value === "-Infinity";
  return typeof value === "number" || typeof value === "boolean";
}

/** Each leaf with its dotted path, in the order in which it was written. */
export function leavesOf(value: Json, path = ""): [path: string, leaf: Json][] {
  if (path !== "" && isLeaf(value)) return [[path, value]];
  const parts = Array.isArray(value) ? value.map((part, i) => [String(i), part] as const) : Object.entries(value ?? {});
  return parts.flatMap(([name, part]) => leavesOf(part, path === "" ? name : `${path}.${name}`));
}

/** Variables with another leaf at a path; unchanged parts are the same objects. */
export function withLeaf(value: Json, path: string, leaf: Json): Json {
  if (isObject(value)) {
    for (const [name, part] of Object.entries(value as JsonObject)) {
      if (path === name) return { ...value, [name]: leaf } as JsonObject;
      if (path.startsWith(`${name}.`)) return { ...value, [name]: withLeaf(part, path.slice(name.length + 1), leaf) } as JsonObject;
    }
    return { ...value, [path]: leaf } as JsonObject;
  }
  if (Array.isArray(value)) {
    const [first = "", ...rest] = path.split(".");
    return value.map((part, i) => (String(i) !== first ? part : rest.length ? withLeaf(part, rest.join("."), leaf) : leaf));
  }
  return value;
}

/** Change a leaf, and the text with it. */
export function setLeaf(path: string, leaf: Json): void {
  variablesText.value = compact(withLeaf(variables.value, path, leaf));
}

/** JSON text with a line for each member of an object, and arrays on one line. */
export function compact(value: Json, indent = ""): string {
  if (isObject(value) && !(indent !== "" && isLeaf(value as Json))) {
    const members = Object.entries(value as JsonObject);
    if (members.length === 0) return "{}";
    const inner = `${indent}  `;
    const lines = members.map(([name, part]) => `${inner}${JSON.stringify(name)}: ${compact(part, inner)}`);
    return `{\n${lines.join(",\n")}\n${indent}}`;
  }
  return inOneLine(value);
}

function inOneLine(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(inOneLine).join(", ")}]`;
  if (isObject(value))
    return `{${Object.entries(value as JsonObject).map(([name, part]) => `${JSON.stringify(name)}: ${inOneLine(part)}`).join(", ")}}`;
  return JSON.stringify(value);
}

/** Variables: the text that is typed, what it means, and changes of single leaves. */

import { computed, signal } from "@preact/signals";

import type { Problem } from "../service/client.ts";
import { isObject, type Json, type JsonObject, numberText } from "../service/json.ts";
import { faultOf, type Fault } from "./jsonFault.ts";

/** The JSON text of the variables. */
export const variablesText = signal("{}");

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

/** The same as a problem. */
export const variablesProblem = computed<Problem | null>(
  () => variablesFault.value && { code: "unreadable_variables", title: "The variables cannot be read", detail: variablesFault.value.message },
);

/** More than the service reads, and few enough to be walked through. */
const MOST_LEVELS = 100;

/** Whether a document has more levels of lists and objects than this page walks through. */
export function isTooDeep(value: unknown, levels = MOST_LEVELS): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((part) => isTooDeep(part, levels - 1));
}

export function readVariables(text: string): { variables: JsonObject } | { fault: Fault } {
  if (text.trim() === "") return { variables: {} };
  const fault = faultOf(text);
  if (fault !== null) return { fault };
  const document = JSON.parse(text) as Json;
  if (!isObject(document)) return { fault: { message: "variables are an object: {\"x\": [1, 2]}", at: 0 } };
  if (isTooDeep(document)) return { fault: { message: `variables are nested more than ${MOST_LEVELS} levels deep`, at: 0 } };
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

/** Variables with another leaf at a path; unchanged parts are the same objects. A leaf on the way becomes a nesting level. */
export function withLeaf(value: Json, path: string, leaf: Json): Json {
  const within = (part: Json, rest: string) => (isLeaf(part) ? { [rest]: leaf } : withLeaf(part, rest, leaf));
  if (Array.isArray(value)) {
    const [first = "", ...rest] = path.split(".");
    return value.map((part, i) => (String(i) !== first ? part : rest.length ? within(part, rest.join(".")) : leaf));
  }
  const members = value as JsonObject;
  for (const [name, part] of Object.entries(members)) {
    if (path === name) return { ...members, [name]: leaf };
    if (path.startsWith(`${name}.`)) return { ...members, [name]: within(part, path.slice(name.length + 1)) };
  }
  return { ...members, [path]: leaf };
}

/** Variables without the leaf at a path of members' names; items of lists stay, as others would move up. */
export function withoutLeaf(value: JsonObject, path: string): JsonObject {
  const kept = Object.entries(value).flatMap(([name, part]): [string, Json][] => {
    if (path === name) return [];
    const isOn = path.startsWith(`${name}.`) && isObject(part);
    return [[name, isOn ? withoutLeaf(part as JsonObject, path.slice(name.length + 1)) : part]];
  });
  return Object.fromEntries(kept);
}

/** Change a leaf, and the text with it. */
export function setLeaf(path: string, leaf: Json): void {
  variablesText.value = compact(withLeaf(variables.value, path, leaf));
}

export function removeLeaf(path: string): void {
  variablesText.value = compact(withoutLeaf(variables.value, path));
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
  return typeof value === "number" ? numberText(value) : JSON.stringify(value);
}

/** Summaries of arrays, expressions, sizes and times as short text. */

import { shortNumber } from "../answer/numbers.ts";
import { isObject, type Json } from "../service/json.ts";
import type { GraphNode, Instruction, Listed, Summary } from "./explained.ts";

const MOST_DIGITS = 6;
/** Of an element in a box of the graph. */
const [MOST_FITTED_DIGITS, LEAST_FITTED_DIGITS] = [4, 2];

/** So many significant digits, with an exponent where that is shorter. */
export function briefNumber(value: number, digits: number): string {
  if (!Number.isFinite(value)) return shortNumber(value);
  const plain = String(Number(value.toPrecision(digits)));
  const power = value.toExponential(digits - 1).replace(/\.?0*e\+?/, "e");
  const isRounded = Math.abs(value) >= 10 ** digits && !Number.isInteger(value);
  const text = power.length < plain.length || isRounded ? power : plain;
  return text.replace("e+", "e").replaceAll("-", "−");
}

const WORDS: { readonly [word: string]: string } = { Infinity: "∞", "-Infinity": "−∞" };

function write(value: Json, digits: number): string {
  if (Array.isArray(value)) return `[${value.map((part) => write(part, digits)).join(", ")}]`;
  if (typeof value === "number") return briefNumber(value, digits);
  if (typeof value === "string") return WORDS[value] ?? value;
  if (!isObject(value)) return String(value);
  const [re, im] = [write(value["re"] as Json, digits), write(value["im"] as Json, digits)];
  return im.startsWith("−") ? `${re} − ${im.slice(1)}i` : `${re} + ${im}i`;
}

/** All that is known of an array. */
export function summaryText(summary: Summary): string {
  if ("value" in summary) return write(summary.value, MOST_DIGITS);
  const { mean, nonfinite } = summary;
  const middle = mean === null ? "" : `, mean ${write(mean, MOST_DIGITS)}`;
  return `${range(summary, MOST_DIGITS)}${middle}${nonfinite > 0 ? `, ${nonfinite} not finite` : ""}`;
}

/** An array in at most so many characters: with fewer digits, or else by its range. */
export function fittedText(summary: Summary, room: number): string {
  const isArray = !("value" in summary) || Array.isArray(summary.value);
  for (let digits = isArray ? MOST_FITTED_DIGITS : MOST_DIGITS; digits >= LEAST_FITTED_DIGITS; digits -= 1) {
    const text = "value" in summary ? write(summary.value, digits) : range(summary, digits);
    if (text.length <= room) return text;
  }
  if (!("value" in summary)) return "…";
  const elements = [summary.value].flat(Infinity as 1);
  const numbers = elements.filter((one) => typeof one === "number" && Number.isFinite(one)) as number[];
  if (elements.length === 1) return "…";
  if (numbers.length < elements.length) return `${elements.length} elements`;
  return fittedText({ min: Math.min(...numbers), max: Math.max(...numbers), mean: null, nonfinite: 0 }, room);
}

function range({ min, max, nonfinite }: Exclude<Summary, { value: Json }>, digits: number): string {
  if (min === null || max === null) return nonfinite > 0 ? `${nonfinite} not finite` : "no elements";
  return min === max ? `all ${briefNumber(min, digits)}` : `${briefNumber(min, digits)} … ${briefNumber(max, digits)}`;
}

/** The name of a node: the program's own, or v with its slot, as textbooks number intermediates. */
export function nodeName({ name, slot }: GraphNode): string {
  return name ?? `v${[...String(slot)].map((digit) => "₀₁₂₃₄₅₆₇₈₉"[Number(digit)]).join("")}`;
}

const SIGNS: { readonly [op: string]: string } = {
  add: "+",
  subtract: "−",
  multiply: "·",
  divide: "/",
  power: "**",
  matmul: "@",
  greater: ">",
  greater_equal: ">=",
  less: "<",
  less_equal: "<=",
  equal: "==",
  not_equal: "!=",
};

/** An operation of operands that are written so. */
export function expression({ op, parameters = "" }: Listed, operands: readonly string[]): string {
  const [first = "", second] = operands;
  const sign = SIGNS[op];
  if (sign !== undefined && operands.length === 2) return `${first} ${sign} ${second}`;
  if (op === "negative" && operands.length === 1) return `−${first}`;
  if (op === "getitem" && operands.length === 1) return `${first}[${/^pattern=\((-?\d+(?:, -?\d+)*),?\)$/.exec(parameters)?.[1] ?? "…"}]`;
  return `${op}(${operands.join(", ")})`;
}

/** What an instruction computes, of operands by slot. */
export function instructionText(instruction: Instruction): string {
  const { op, operands, constant, place } = instruction;
  if (constant !== undefined) return write(constant, MOST_DIGITS);
  if (op === "input" && place.line === undefined && place.id !== undefined) return place.id;
  if (operands.length === 0) return op;
  return `${op}(${operands.map((slot) => `%${slot}`).join(", ")})`;
}

/** As `float64[2, 3]`. */
export function typeText({ dtype, shape }: Listed): string {
  if (dtype === null || shape === null) return "several";
  return shape.length === 0 ? dtype : `${dtype}[${shape.join(", ")}]`;
}

function scaled(value: number, units: readonly string[], step: number): string {
  let [rest, unit] = [value, 0];
  while (rest >= step && unit < units.length - 1) [rest, unit] = [rest / step, unit + 1];
  return `${rest >= 100 ? Math.round(rest) : Number(rest.toPrecision(3))} ${units[unit]}`;
}

/** Bytes, in units of 1024. */
export function bytesText(bytes: number): string {
  return scaled(bytes, ["B", "KiB", "MiB", "GiB"], 1024);
}

export function secondsText(seconds: number): string {
  return scaled(seconds * 1e6, ["µs", "ms", "s"], 1000);
}

/** A number with thousands apart. */
export function countText(count: number): string {
  return count.toLocaleString("en");
}

/** Variables made from a formula: `normal(100, 3)`, `uniform(50)`, `linspace(0, 1, 200)`, `zeros(3, 4)`, `ones(5)`. */

import type { Generated } from "../model/document.ts";
import { type Bytes, float64Leaf } from "../service/tensor.ts";

/** A formula that cannot be read, in words for people. */
export class FormulaError extends Error {}

const MOST_ELEMENTS = 4_000_000;
const FORM = /^\s*([a-z]+)\s*\(\s*([^()]*?)\s*\)\s*$/;

type Fill = (size: number) => Float64Array;

/** The variable of a formula; a wrong formula keeps the values of the one `before`, and says what is wrong. */
export function generated(text: string, before: Bytes | null = null): Generated {
  try {
    return { kind: "generated", text, fault: null, leaf: generate(text) };
  } catch (error) {
    if (!(error instanceof FormulaError)) throw error;
    return { kind: "generated", text, fault: error.message, leaf: before };
  }
}

/** The values of a formula. The same text gives the same numbers. Throws a `FormulaError`. */
export function generate(text: string): Bytes {
  const [, name = "", list = ""] = FORM.exec(text) ?? [];
  const numbers = list === "" ? [] : list.split(",").map(Number);
  if (name === "" || numbers.some(Number.isNaN)) throw new FormulaError("write a formula such as normal(100, 3)");
  const [shape, fill] = read(name, numbers, text);
  const size = shape.reduce((product, length) => product * length, 1);
  if (shape.length === 0 || shape.some((length) => !Number.isInteger(length) || length < 1))
    throw new FormulaError(`${name} needs whole numbers of elements, as in ${name}(100, 3)`);
  if (size > MOST_ELEMENTS) throw new FormulaError(`at most ${MOST_ELEMENTS.toLocaleString("en")} elements can be made here`);
  return float64Leaf(fill(size), shape);
}

function read(name: string, numbers: number[], text: string): [shape: number[], fill: Fill] {
  if (name === "linspace") {
    const [start = NaN, end = NaN, count = NaN] = numbers;
    if (numbers.length !== 3) throw new FormulaError("linspace has three arguments: linspace(0, 1, 200)");
    return [[count], (size) => Float64Array.from({ length: size }, (_, i) => start + ((end - start) * i) / Math.max(1, size - 1))];
  }
  const fills: { [name: string]: () => number } = { zeros: () => 0, ones: () => 1, ...draws(text) };
  const draw = fills[name];
  if (draw === undefined) throw new FormulaError(`${name} is none of: normal, uniform, linspace, zeros, ones`);
  return [numbers, (size) => Float64Array.from({ length: size }, draw)];
}

/** Draws whose state begins with a digest of the text. */
export function draws(text: string): { normal: () => number; uniform: () => number } {
  let state = 2166136261;
  for (const letter of text) state = Math.imul(state ^ letter.charCodeAt(0), 16777619);
  // Mulberry32, by Tommy Ettinger (public domain): 32 bits, enough for examples.
  const uniform = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  // Box and Muller (1958).
  const normal = () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
  return { normal, uniform };
}

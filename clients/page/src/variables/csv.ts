/** Tables of numbers as text: separated by commas, semicolons, tabs or blanks; quotes as in RFC 4180. */

import { FileError } from "./npy.ts";

export interface Table {
  /** The names of the columns; null without a header. */
  readonly names: readonly string[] | null;
  readonly columns: readonly (readonly number[])[];
  /** Columns of a table with a header that hold other things than numbers. */
  readonly others: readonly { readonly name: string; readonly line: number; readonly text: string }[];
}

/** A missing number is NaN. */
const MISSING = /^(|na|n\/a|nan|null|none|\?|-)$/i;
const NUMBER = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i;
const INFINITE = /^([-+]?)inf(inity)?$/i;

/** The table of a text. Throws a `FileError` with the line. */
export function readCsv(text: string): Table {
  const delimiter = delimiterOf(text);
  const decimal = delimiter === ";" ? "," : ".";
  let names: string[] | null = null;
  let width = 0;
  const columns: number[][] = [];
  const faults = new Map<number, { line: number; text: string }>();
  for (const { cells, line } of rowsOf(text, delimiter)) {
    const numbers = cells.map((cell) => numberOf(cell, decimal));
    if (width === 0) {
      width = cells.length;
      for (let i = 0; i < width; i += 1) columns.push([]);
      if (numbers.includes(null)) {
        names = cells;
        continue;
      }
    }
    if (cells.length !== width) throw new FileError(`line ${line} has ${cells.length} columns, and the first line has ${width}`);
    numbers.forEach((number, i) => {
      if (number === null && !faults.has(i)) faults.set(i, { line, text: cells[i] ?? "" });
      columns[i]?.push(number ?? NaN);
    });
  }
  if (!columns[0]?.length) throw new FileError(names === null ? "it is empty" : "it has a header and no rows");
  const [first] = faults.values();
  if (first !== undefined && (names === null || faults.size === width)) throw new FileError(`line ${first.line}: “${first.text}” is no number`);
  return {
    names: names?.filter((_, i) => !faults.has(i)) ?? null,
    columns: columns.filter((_, i) => !faults.has(i)),
    others: [...faults].map(([i, fault]) => ({ name: names?.[i] ?? "", ...fault })),
  };
}

/** The delimiter of the first line that has one; blanks if none has. */
function delimiterOf(text: string): string {
  for (const line of linesOf(text)) {
    if (line.trim() === "" || line.startsWith("#")) continue;
    const bare = line.replaceAll(/"[^"]*"/g, "");
    return ["\t", ";", ","].find((one) => bare.includes(one)) ?? " ";
  }
  return ",";
}

function* linesOf(text: string): Generator<string> {
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf("\n", start);
    const stop = end < 0 ? text.length : end;
    yield text.slice(start, stop).replace(/\r$/, "");
    start = stop + 1;
  }
}

function* rowsOf(text: string, delimiter: string): Generator<{ cells: string[]; line: number }> {
  let number = 0;
  /** A line that a quoted cell continues. */
  let open: { text: string; line: number } | null = null;
  for (const part of linesOf(text)) {
    number += 1;
    const line: string = open === null ? part : `${open.text}\n${part}`;
    const begin: number = open?.line ?? number;
    // An odd number of quotes: a cell goes on in the next line.
    if (line.includes('"') && line.split('"').length % 2 === 0) {
      open = { text: line, line: begin };
      continue;
    }
    open = null;
    if (line.trim() === "" || line.startsWith("#")) continue;
    yield { cells: cellsOf(line, delimiter), line: begin };
  }
  if (open !== null) throw new FileError(`line ${open.line}: a quote is not closed`);
}

function cellsOf(line: string, delimiter: string): string[] {
  if (delimiter === " ") return line.trim().split(/\s+/);
  if (!line.includes('"')) return line.split(delimiter).map((cell) => cell.trim());
  const cells: string[] = [];
  let cell = "";
  let isQuoted = false;
  for (const letter of line) {
    if (letter === '"') isQuoted = !isQuoted;
    if (letter === delimiter && !isQuoted) {
      cells.push(cell);
      cell = "";
    } else cell += letter;
  }
  return [...cells, cell].map((one) => one.trim().replace(/^"([^]*)"$/, "$1").replaceAll('""', '"').trim());
}

/** Null for what is neither a number nor a missing one. */
function numberOf(cell: string, decimal: string): number | null {
  if (MISSING.test(cell)) return NaN;
  const text = decimal === "," ? cell.replace(",", ".") : cell;
  if (NUMBER.test(text)) return Number(text);
  const [found, sign] = INFINITE.exec(text) ?? [];
  return found === undefined ? null : sign === "-" ? -Infinity : Infinity;
}

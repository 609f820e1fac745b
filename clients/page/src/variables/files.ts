/** Files as variables: refused before they are read if they are too large to be sent. */

import type { FromFile } from "../model/document.ts";
import { bytesText } from "../model/limits.ts";
import { type Bytes, float64Leaf } from "../service/tensor.ts";
import { readCsv } from "./csv.ts";
import { FileError, isNpy, readNpy } from "./npy.ts";

export interface Loaded {
  readonly variables: readonly (readonly [path: string, variable: FromFile])[];
  /** What became of the file. */
  readonly message: string;
}

/** A table with more columns becomes one matrix, header or not. */
const MOST_COLUMNS = 20;

/** The variables of a file, called `name` or by the file's name. Throws a `FileError`. */
export async function load(file: File, name: string, mostBytes: number): Promise<Loaded> {
  const most = Math.floor((mostBytes * 3) / 4);
  if (file.size > most)
    throw new FileError(
      `it has ${bytesText(file.size)} and was not read. The service takes requests of at most ${bytesText(mostBytes)}, in which a file of ${bytesText(most)} has room, as arrays take a third more there`,
    );
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    bytes = new Uint8Array(await file.arrayBuffer());
  } catch {
    throw new FileError("the browser cannot read it: it may be a folder, or have changed or gone");
  }
  const path = name === "" ? nameOf(file.name.replace(/\.[^.]*$/, "")) : name;
  if (isNpy(bytes)) return one(file, path, readNpy(bytes));
  if (bytes[0] === 0x50 && bytes[1] === 0x4b) throw new FileError("it is an archive, such as .npz: save each array by itself, as .npy");
  if (bytes.subarray(0, 4096).includes(0)) throw new FileError("it is neither an .npy file nor a table of numbers as text");
  return table(file, path, new TextDecoder().decode(bytes), most);
}

function one(file: File, path: string, leaf: Bytes): Loaded {
  return { variables: [[path, { kind: "file", name: file.name, leaf }]], message: `${file.name} is ${path}.` };
}

function table(file: File, path: string, text: string, most: number): Loaded {
  const { names, columns, others } = readCsv(text);
  const rows = columns[0]?.length ?? 0;
  const size = 8 * rows * columns.length;
  if (size > most) throw new FileError(`its ${rows} rows and ${columns.length} columns take ${bytesText(size)} as float64, and ${bytesText(most)} can be sent`);
  if (names === null || columns.length > MOST_COLUMNS) {
    const matrix = Float64Array.from({ length: rows * columns.length }, (_, i) => columns[i % columns.length]?.[Math.floor(i / columns.length)] ?? NaN);
    const loaded = one(file, path, float64Leaf(matrix, columns.length === 1 ? [rows] : [rows, columns.length]));
    return names === null ? loaded : { ...loaded, message: `${loaded.message} The names of its ${columns.length} columns are left out.` };
  }
  const members = uniqueNames(names);
  const variables = columns.map((column, i) => {
    const leaf = float64Leaf(Float64Array.from(column), [rows]);
    return [`${path}.${members[i]}`, { kind: "file", name: file.name, leaf }] as const;
  });
  const left = others.map(({ name, line, text: cell }) => ` ${name} is left out: “${cell}” in line ${line} is no number.`);
  return { variables, message: `${file.name} has a header: its columns are ${variables.map(([name]) => name).join(", ")}.${left.join("")}` };
}

/** A name of the language for any text: other characters become underscores. */
export function nameOf(text: string): string {
  const name = text.normalize("NFKC").trim().replaceAll(/[^\p{L}\p{N}_]+/gu, "_").replace(/_+$/, "");
  return /^[\p{L}_]/u.test(name) ? name : `_${name}`;
}

function uniqueNames(names: readonly string[]): string[] {
  const taken = new Set<string>();
  return names.map((text) => {
    const name = nameOf(text);
    let free = name;
    for (let i = 2; taken.has(free); i += 1) free = `${name}_${i}`;
    taken.add(free);
    return free;
  });
}

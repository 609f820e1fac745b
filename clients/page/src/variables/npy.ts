/** NumPy's files of one array, versions 1 to 3. Source: NumPy reference, numpy.lib.format. */

import { base64Of, type Bytes } from "../service/tensor.ts";

/** A file that cannot be read, in words for people. */
export class FileError extends Error {}

const MAGIC = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59];
const KINDS: { readonly [kind: string]: string } = { b: "bool", i: "int", u: "uint", f: "float", c: "complex" };
const DTYPES = /^(bool|u?int(8|16|32|64)|float(16|32|64)|complex(64|128))$/;

export function isNpy(bytes: Uint8Array): boolean {
  return MAGIC.every((byte, i) => bytes[i] === byte);
}

/** The array as a leaf: little-endian, in C order. Throws a `FileError`. */
export function readNpy(bytes: Uint8Array<ArrayBuffer>): Bytes {
  const { dtype, isBig, isFortran, shape, start } = readHeader(bytes);
  const item = dtype === "bool" ? 1 : Number(/\d+$/.exec(dtype)?.[0]) / 8;
  const size = shape.reduce((product, length) => product * length, 1);
  const data = bytes.subarray(start, start + size * item);
  if (data.length < size * item) throw new FileError(`the file ends after ${data.length} of the array's ${size * item} bytes`);
  // A complex number is two numbers, each with its own order of bytes.
  const unit = dtype.startsWith("complex") ? item / 2 : item;
  const ordered = isFortran && shape.filter((length) => length > 1).length > 1 ? inOrderOfC(data, shape, item) : data;
  return { dtype, shape, base64: base64Of(isBig ? reversed(ordered, unit) : ordered) };
}

interface Header {
  readonly dtype: string;
  readonly isBig: boolean;
  readonly isFortran: boolean;
  readonly shape: number[];
  /** Where the elements begin. */
  readonly start: number;
}

function readHeader(bytes: Uint8Array<ArrayBuffer>): Header {
  const version = bytes[6] ?? 0;
  if (version < 1 || version > 3) throw new FileError(`it is an .npy file of version ${version}, and only versions 1 to 3 are known`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const begin = version === 1 ? 10 : 12;
  if (bytes.length < begin) throw new FileError("the file ends within its header");
  const start = begin + (version === 1 ? view.getUint16(8, true) : view.getUint32(8, true));
  const header = new TextDecoder(version === 3 ? "utf-8" : "latin1").decode(bytes.subarray(begin, start));
  const [, descr] = /['"]descr['"]\s*:\s*(\[.*\]|['"][^'"]*['"])/.exec(header) ?? [];
  const [, order] = /['"]fortran_order['"]\s*:\s*(True|False)/.exec(header) ?? [];
  const [, lengths] = /['"]shape['"]\s*:\s*\(([\dL\s,]*)\)/.exec(header) ?? [];
  if (descr === undefined || order === undefined || lengths === undefined) throw new FileError("its header cannot be read");
  const [, endian = "", kind = "", width = ""] = /^['"]([<>|=]?)([a-zA-Z])(\d+)['"]$/.exec(descr) ?? [];
  const dtype = kind === "b" ? "bool" : `${KINDS[kind] ?? ""}${8 * Number(width)}`;
  if (!DTYPES.test(dtype))
    throw new FileError(`its elements are of the type ${descr}, and the service computes with booleans, integers, floats and complex numbers`);
  const shape = lengths.split(",").map((length) => length.replace("L", "").trim()).filter((length) => length !== "").map(Number);
  return { dtype, isBig: endian === ">", isFortran: order === "True", shape, start };
}

/** The elements of an array whose first axis runs fastest, in the order in which the last one does. */
function inOrderOfC(data: Uint8Array<ArrayBuffer>, shape: readonly number[], item: number): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(data.length);
  const strides = shape.map((_, axis) => shape.slice(0, axis).reduce((product, length) => product * length, item));
  const index = shape.map(() => 0);
  let from = 0;
  for (let to = 0; to < out.length; to += item) {
    for (let byte = 0; byte < item; byte += 1) out[to + byte] = data[from + byte] ?? 0;
    for (let axis = shape.length - 1; axis >= 0; axis -= 1) {
      const stride = strides[axis] ?? 0;
      from += stride;
      index[axis] = (index[axis] ?? 0) + 1;
      if (index[axis] !== shape[axis]) break;
      from -= stride * (shape[axis] ?? 0);
      index[axis] = 0;
    }
  }
  return out;
}

function reversed(data: Uint8Array<ArrayBuffer>, unit: number): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(data.length);
  for (let start = 0; start < data.length; start += unit)
    for (let byte = 0; byte < unit; byte += 1) out[start + byte] = data[start + unit - 1 - byte] ?? 0;
  return out;
}

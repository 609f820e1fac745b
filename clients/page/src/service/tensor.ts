/** Arrays as the service sends them: dtype, shape and little-endian bytes in C order. */

import { isObject, type Tree } from "./json.ts";

export interface Tensor {
  readonly dtype: string;
  readonly shape: readonly number[];
  /** The elements, or the real parts of complex ones. */
  readonly data: Float64Array;
  /** The imaginary parts of complex elements. */
  readonly imag?: Float64Array;
}

type Read = (view: DataView, at: number) => number;

const READERS: { readonly [dtype: string]: readonly [bytes: number, read: Read] } = {
  bool: [1, (view, at) => view.getUint8(at)],
  int8: [1, (view, at) => view.getInt8(at)],
  uint8: [1, (view, at) => view.getUint8(at)],
  int16: [2, (view, at) => view.getInt16(at, true)],
  uint16: [2, (view, at) => view.getUint16(at, true)],
  int32: [4, (view, at) => view.getInt32(at, true)],
  uint32: [4, (view, at) => view.getUint32(at, true)],
  int64: [8, (view, at) => Number(view.getBigInt64(at, true))],
  uint64: [8, (view, at) => Number(view.getBigUint64(at, true))],
  float16: [2, (view, at) => half(view.getUint16(at, true))],
  bfloat16: [2, (view, at) => upperHalf(view.getUint16(at, true))],
  float32: [4, (view, at) => view.getFloat32(at, true)],
  float64: [8, (view, at) => view.getFloat64(at, true)],
  complex64: [4, (view, at) => view.getFloat32(at, true)],
  complex128: [8, (view, at) => view.getFloat64(at, true)],
};

/** The value of a float16: IEEE 754-2019, section 3.4. */
function half(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return exponent ? sign * 2 ** (exponent - 25) * (1024 + fraction) : sign * 2 ** -24 * fraction;
}

/** The value of a bfloat16: the float32 of which it is the upper half. */
function upperHalf(bits: number): number {
  const wide = new DataView(new ArrayBuffer(4));
  wide.setUint16(0, bits);
  return wide.getFloat32(0);
}

export function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
}

export function base64Of(bytes: Uint8Array): string {
  const parts: string[] = [];
  for (let start = 0; start < bytes.length; start += 0x8000)
    parts.push(String.fromCharCode(...bytes.subarray(start, start + 0x8000)));
  return btoa(parts.join(""));
}

/** An array as a leaf of a request or an answer. */
export type Bytes = { dtype: string; shape: number[]; base64: string };

export function isLeaf(document: unknown): document is Bytes {
  return isObject(document) && typeof document["base64"] === "string" && typeof document["dtype"] === "string";
}

/** The array of a leaf with bytes. Throws a RangeError for an unknown dtype. */
export function readTensor(leaf: Bytes): Tensor {
  const known = READERS[leaf.dtype];
  if (known === undefined) throw new RangeError(`unknown dtype ${leaf.dtype}`);
  const [bytes, read] = known;
  const view = new DataView(bytesOf(leaf.base64).buffer);
  const parts = leaf.dtype.startsWith("complex") ? 2 : 1;
  const size = view.byteLength / bytes / parts;
  const part = (first: number) => Float64Array.from({ length: size }, (_, i) => read(view, (i * parts + first) * bytes));
  const { dtype, shape } = leaf;
  return parts === 1 ? { dtype, shape, data: part(0) } : { dtype, shape, data: part(0), imag: part(1) };
}

/** The leaf of a float64 array, as it is sent. */
export function float64Leaf(data: Float64Array, shape: readonly number[]): Bytes {
  return { dtype: "float64", shape: [...shape], base64: base64Of(new Uint8Array(data.buffer, data.byteOffset, data.byteLength)) };
}

/** A document of an answer with its arrays read; null where there is no gradient. */
export function readTree(document: unknown): Tree<Tensor | string | null> {
  if (isLeaf(document)) return readTensor(document);
  if (Array.isArray(document)) return document.map(readTree);
  if (isObject(document))
    return Object.fromEntries(Object.entries(document).map(([name, part]) => [name, readTree(part)]));
  return typeof document === "string" ? document : null;
}

export function isTensor(tree: unknown): tree is Tensor {
  return isObject(tree) && tree["data"] instanceof Float64Array;
}

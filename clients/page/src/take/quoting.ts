/** Text as literals of programming languages. */

import { isObject, type Json, type JsonObject, numberText } from "../service/json.ts";

/** A word of a POSIX shell. */
export function shellWord(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** A string of JavaScript, Python, Go or Julia: JSON's escapes are theirs too, but for those named below. */
function quoted(text: string): string {
  // Lines end at U+2028 and U+2029 in some of them; a lone half of a pair has no UTF-8.
  return JSON.stringify(text).replace(/[\u2028\u2029\u007f]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** A string of Python; of several lines between three quotes, if no escapes are needed. */
export function pythonString(text: string): string {
  const isPlain = /^[\t\n\x20-\x7e]*$/.test(text) && !/\\|"""/.test(text);
  return text.includes("\n") && isPlain ? `"""\\\n${text}${text.endsWith('"') ? "\\\n" : ""}"""` : quoted(text);
}

const FLOATS: { readonly [word: string]: string } = { NaN: 'float("nan")', Infinity: 'float("inf")', "-Infinity": '-float("inf")' };

/** A document as a literal of Python; words for numbers that JSON lacks become these numbers. */
export function pythonLiteral(value: Json, indent = ""): string {
  if (value === null) return "None";
  if (value === true) return "True";
  if (value === false) return "False";
  if (typeof value === "string") return FLOATS[value] ?? quoted(value);
  if (typeof value === "number") return numberText(value);
  if (Array.isArray(value)) return `[${value.map((part) => pythonLiteral(part, indent)).join(", ")}]`;
  return braces(value, indent, (name) => quoted(name), pythonLiteral);
}

/** An object of JavaScript. */
export function javascriptLiteral(value: Json, indent = ""): string {
  if (typeof value === "string") return quoted(value);
  if (typeof value === "number") return numberText(value);
  if (Array.isArray(value)) return `[${value.map((part) => javascriptLiteral(part, indent)).join(", ")}]`;
  if (isObject(value))
    return braces(value as JsonObject, indent, (name) => (/^[a-z_$][\w$]*$/i.test(name) ? name : quoted(name)), javascriptLiteral);
  return JSON.stringify(value);
}

/** In one line if it is short, else a line for each member. */
function braces(value: JsonObject, indent: string, key: (name: string) => string, write: (value: Json, indent: string) => string): string {
  const members = Object.entries(value);
  const line = `{${members.map(([name, part]) => `${key(name)}: ${write(part, indent)}`).join(", ")}}`;
  if (members.length === 0 || (line.length + indent.length <= 80 && !line.includes("\n"))) return line;
  const inner = `${indent}    `;
  return `{\n${members.map(([name, part]) => `${inner}${key(name)}: ${write(part, inner)}`).join(",\n")}\n${indent}}`;
}

/** A string of Go: between back quotes if it has none. */
export function goString(text: string): string {
  return /[`\r\u0000]/.test(text) ? quoted(text) : `\`${text}\``;
}

/** A string of Julia, where a dollar begins an expression. */
export function juliaString(text: string): string {
  return quoted(text).replaceAll("$", "\\$");
}

/** A raw string of R (4.0), with as many dashes as its contents need. */
export function rString(text: string): string {
  let dashes = "";
  while (text.includes(`)${dashes}"`)) dashes += "-";
  return `r"${dashes}(${text})${dashes}"`;
}

/** A document as JSON, a line for each member of what is long. */
export function jsonText(value: Json, indent = ""): string {
  if (Array.isArray(value)) return `[${value.map((part) => jsonText(part, indent)).join(", ")}]`;
  if (typeof value === "number") return numberText(value);
  if (!isObject(value)) return JSON.stringify(value);
  return braces(value as JsonObject, indent, (name) => JSON.stringify(name), jsonText);
}

/** What is wrong with a JSON text, in the same words and at the right place in every browser. */

import { jsonLanguage } from "@codemirror/lang-json";

export interface Fault {
  readonly message: string;
  /** The offset in the text at which reading failed. */
  readonly at: number;
}

const MOST_SHOWN = 20;

/** Why a text is no JSON, or has numbers that would be changed without a word; null for all others. */
export function faultOf(text: string): Fault | null {
  try {
    JSON.parse(text);
  } catch {
    return syntaxFault(text);
  }
  return numberFault(text);
}

function syntaxFault(text: string): Fault {
  let at = text.length;
  jsonLanguage.parser.parse(text).iterate({
    enter: ({ type, from }) => {
      if (type.isError) at = Math.min(at, from);
    },
  });
  const before = text.slice(0, at).split("\n");
  const place = `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
  const [rest = ""] = text.slice(at).split("\n", 1);
  const what = rest === "" ? "it ends too early" : `“${[...rest].slice(0, MOST_SHOWN).join("")}” is not expected`;
  return { at, message: `not JSON at ${place}: ${what}. Names have double quotes, nothing follows a last comma, and NaN is "NaN".` };
}

/** A string, which is passed over, or a number. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;

function numberFault(text: string): Fault | null {
  // Most texts have none of these, which is seen at once.
  if (!/\d{16}|[eE]\+?\d{3}|\d{300}/.test(text)) return null;
  for (const { 0: token, index: at } of text.matchAll(TOKEN)) {
    if (token.startsWith('"')) continue;
    const number = Number(token);
    const shown = token.slice(0, MOST_SHOWN);
    if (!Number.isFinite(number)) return { at, message: `${shown} is too large for a number: infinity is "Infinity" or "-Infinity"` };
    if (/^-?\d{16,}$/.test(token) && JSON.stringify(number) !== token)
      return { at, message: `a browser has no number with all digits of ${shown}: ${number} is the nearest, and other clients can send yours` };
  }
  return null;
}

/** A small array: a field for each element, and rows pasted from a spreadsheet. */

import { useSignal } from "@preact/signals";

import type { Json } from "../service/json.ts";
import { NumberField } from "./NumberField.tsx";
import { readElement, withElement } from "./parts.ts";

interface Props {
  readonly value: Json;
  readonly shape: readonly number[];
  readonly dtype: string;
  readonly label: string;
  readonly onValue: (value: Json) => void;
}

export function Grid({ value, shape, dtype, label, onValue }: Props) {
  const fault = useSignal("");
  const rows = shape.length === 1 ? [value as Json[]] : (value as Json[][]);
  const indexOf = (row: number, column: number) => (shape.length === 1 ? [column] : [row, column]);
  const paste = (event: ClipboardEvent, row: number, column: number) => {
    const text = event.clipboardData?.getData("text/plain").trim() ?? "";
    if (!/[\t\n]/.test(text)) return;
    event.preventDefault();
    const block = text.split(/\r?\n/).map((line) => line.split("\t").map((cell) => readElement(cell, dtype)));
    fault.value = faultOf(block, rows.length - row, (rows[0]?.length ?? 0) - column);
    if (fault.value !== "") return;
    let pasted = value;
    block.forEach((cells, i) => cells.forEach((cell, j) => (pasted = withElement(pasted, indexOf(row + i, column + j), cell))));
    onValue(pasted);
  };
  return (
    <>
      <div class={shape.length === 1 ? "cells one-axis" : "cells"} role="group" aria-label={label}>
        {rows.map((cells, row) => (
          <div key={row}>
            {cells.map((element, column) => {
              const index = indexOf(row, column);
              return (
                <span key={column} onPaste={(event) => paste(event, row, column)}>
                  <NumberField
                    value={element}
                    dtype={dtype}
                    label={`${label}[${index.join(", ")}]`}
                    onValue={(changed) => onValue(withElement(value, index, changed))}
                  />
                </span>
              );
            })}
          </div>
        ))}
      </div>
      {fault.value !== "" && (
        <p class="fault" role="alert">
          {fault.value}
        </p>
      )}
    </>
  );
}

/** Why a block of cells cannot be pasted where that many rows and columns are left; empty if it can. */
function faultOf(block: readonly (readonly Json[])[], rows: number, columns: number): string {
  const wrong = block.findIndex((cells) => cells.includes(null));
  if (wrong >= 0) return `Nothing is pasted: row ${wrong + 1} holds something that is no number.`;
  const width = Math.max(...block.map((cells) => cells.length));
  if (block.length > rows || width > columns)
    return `Nothing is pasted: ${block.length} rows and ${width} columns do not fit here. Change the shape in the JSON text.`;
  return "";
}

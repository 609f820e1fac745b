/** A field for one number: what is typed stays until it is one, and arrows step. */

import { useSignal } from "@preact/signals";

import type { Json } from "../service/json.ts";
import { numberOf, readElement, stepped } from "./parts.ts";

interface Props {
  readonly value: Json;
  readonly dtype: string;
  readonly label: string;
  readonly onValue: (value: Json) => void;
}

export function NumberField({ value, dtype, label, onValue }: Props) {
  /** What is typed for the value that it gave, or did not change. */
  const draft = useSignal<{ readonly text: string; readonly value: Json } | null>(null);
  if (dtype === "bool")
    return <input type="checkbox" aria-label={label} checked={value === true} onChange={(event) => onValue(event.currentTarget.checked)} />;
  const typed = draft.value !== null && draft.value.value === value ? draft.value.text : null;
  const isWrong = typed !== null && readElement(typed, dtype) === null;
  const type = (text: string) => {
    const read = readElement(text, dtype);
    draft.value = { text, value: read ?? value };
    if (read !== null && read !== value) onValue(read);
  };
  const step = (event: KeyboardEvent) => {
    if (event.key === "Escape") draft.value = null;
    const direction = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (direction === undefined) return;
    event.preventDefault();
    draft.value = null;
    if (typeof value === "number") onValue(stepped(numberOf(value), direction, dtype));
  };
  return (
    <input
      type="text"
      inputMode="decimal"
      autocomplete="off"
      spellcheck={false}
      aria-label={label}
      aria-invalid={isWrong}
      title={isWrong ? `no number of ${dtype}` : ""}
      value={typed ?? String(value)}
      onInput={(event) => type(event.currentTarget.value)}
      onBlur={() => {
        if (!isWrong) draft.value = null;
      }}
      onKeyDown={step}
    />
  );
}

/** A number: a slider and a field. */

import { useRef } from "preact/hooks";

import type { Json } from "../service/json.ts";
import { NumberField } from "./NumberField.tsx";
import { numberOf } from "./parts.ts";
import { fits, type Range, rangeOf, widened } from "./range.ts";

interface Props {
  readonly value: Json;
  readonly dtype: string;
  readonly label: string;
  readonly onValue: (value: Json) => void;
}

export function Scalar({ value, dtype, label, onValue }: Props) {
  const range = useRef<Range | null>(null);
  /** The value that the slider gave last: its range stays while it is moved. */
  const own = useRef<number | null>(null);
  if (dtype === "bool") return <NumberField value={value} dtype={dtype} label={label} onValue={onValue} />;
  const number = numberOf(value);
  if (number !== own.current) {
    if (range.current === null || !fits(range.current, number)) range.current = rangeOf(number, dtype);
    own.current = number;
  }
  const { min, max, step } = range.current ?? { min: -1, max: 1, step: 0.01 };
  return (
    <div class="scalar">
      <input
        type="range"
        aria-label={`${label}, slider`}
        aria-valuetext={String(value)}
        min={min}
        max={max}
        step={step}
        value={Number.isFinite(number) ? number : 0}
        disabled={range.current === null}
        onInput={(event) => {
          own.current = Number(event.currentTarget.value);
          onValue(own.current);
        }}
        onChange={(event) => {
          // Let go of at an end, it goes on from there.
          const end = Number(event.currentTarget.value);
          if (range.current === null) return;
          const wider = widened(range.current, end, dtype);
          if (wider === range.current) return;
          range.current = wider;
          Object.assign(event.currentTarget, { min: wider.min, max: wider.max, step: wider.step, value: end });
        }}
      />
      <NumberField value={value} dtype={dtype} label={label} onValue={onValue} />
    </div>
  );
}

/** Rows of a table that show, and are shown by, what is pointed at. */

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";

import { pointed, pointedAt } from "../model/pointing.ts";
import type { Place } from "../service/client.ts";
import { countText } from "./texts.ts";
import { useIsPointed } from "./useIsPointed.ts";

/** More rows are shown when asked for: thousands at once would keep the page from answering. */
const [ROWS_AT_FIRST, ROWS_MORE] = [100, 400];

export interface Pointing {
  readonly place: Place;
  /** Of a node. */
  readonly slot?: number;
}

/** The body of a table; the first row is reached by Tab, the others by arrow keys. */
export function Rows<Item>({
  items,
  columns,
  pointing,
  row,
}: {
  items: readonly Item[];
  columns: number;
  pointing: (item: Item) => Pointing;
  row: (item: Item) => { readonly class?: string; readonly cells: ComponentChildren };
}) {
  const most = useSignal(ROWS_AT_FIRST);
  const shown = items.slice(0, most.value);
  const hidden = items.length - shown.length;
  const at = (event: Event): HTMLTableRowElement | null => (event.target as Element).closest<HTMLTableRowElement>("tr[data-index]");
  const point = (event: Event) => {
    const item = items[Number(at(event)?.getAttribute("data-index") ?? NaN)];
    if (item === undefined) return;
    const { place, slot } = pointing(item);
    pointed.value = pointedAt(place, slot);
  };
  const leave = () => (pointed.value = null);
  const move = (event: KeyboardEvent) => {
    const row = at(event);
    const to = { ArrowDown: row?.nextElementSibling, ArrowUp: row?.previousElementSibling }[event.key];
    if (!(to instanceof HTMLElement) || !to.hasAttribute("data-index")) return;
    event.preventDefault();
    to.focus();
  };
  return (
    <tbody onMouseOver={point} onMouseLeave={leave} onFocusIn={point} onFocusOut={leave} onKeyDown={move}>
      {shown.map((item, i) => (
        <Row key={i} index={i} {...pointing(item)} {...row(item)} />
      ))}
      {hidden > 0 && (
        <tr>
          <td colSpan={columns}>
            <button type="button" onClick={() => (most.value += ROWS_MORE)}>
              Show {Math.min(hidden, ROWS_MORE)} more
            </button>
            {hidden > ROWS_MORE && <span class="quiet"> of {countText(hidden)}</span>}
          </td>
        </tr>
      )}
    </tbody>
  );
}

function Row(props: Pointing & { index: number; class?: string; cells: ComponentChildren }) {
  const isLit = useIsPointed(props.place, props.slot);
  return (
    <tr data-index={props.index} class={`${props.class ?? ""}${isLit ? " pointed" : ""}`} tabIndex={props.index === 0 ? 0 : -1}>
      {props.cells}
    </tr>
  );
}

/** A node of the graph: its expression, its value and its adjoint in a box. */

import type { Signal } from "@preact/signals";

import { pointed, pointedAt } from "../model/pointing.ts";
import type { Vertex } from "./drawing.ts";
import { BOX_HEIGHT, type Place } from "./layout.ts";
import { fittedText, summaryText } from "./texts.ts";
import { useIsPointed } from "./useIsPointed.ts";

const MOST_CHARACTERS = 20;
const LEAST_CHARACTERS = 8;
const CHARACTER_WIDTH = 7.25;
const PADDING = 9;

/** The lines of text in a box. */
export interface Lines {
  readonly title: string;
  readonly value: string;
  readonly adjoint: string;
}

export function linesOf({ node, title }: Vertex): Lines {
  const room = MOST_CHARACTERS - 2;
  return {
    title: title.length > MOST_CHARACTERS ? `${title.slice(0, MOST_CHARACTERS - 1)}…` : title,
    value: node.value === null ? "several results" : fittedText(node.value, room),
    adjoint: node.adjoint === null ? "" : `∂ ${fittedText(node.adjoint, room)}`,
  };
}

export function widthOf({ title, value, adjoint }: Lines): number {
  return Math.max(LEAST_CHARACTERS, title.length, value.length, adjoint.length) * CHARACTER_WIDTH + 2 * PADDING;
}

export function NodeView(props: {
  vertex: Vertex;
  lines: Lines;
  place: Place;
  hasValue: boolean;
  hasAdjoint: boolean;
  sweep: string;
  isEntry: boolean;
  focusable: Signal<number | null>;
}) {
  const { vertex, lines, place, hasValue, hasAdjoint } = props;
  const { node, title } = vertex;
  const { slot } = node;
  const isLit = useIsPointed(node.place, slot);
  const classes = ["node", node.is_source && "source", node.is_target && "target", props.sweep, isLit && "pointed"];
  const [left, text] = [place.x - place.width / 2, place.x - place.width / 2 + PADDING];
  const point = () => (pointed.value = pointedAt(node.place, slot));
  const leave = () => (pointed.value = null);
  return (
    <g
      class={classes.filter(Boolean).join(" ")}
      data-slot={slot}
      role="img"
      aria-label={describe(vertex, hasValue, hasAdjoint)}
      tabIndex={props.isEntry ? 0 : -1}
      onMouseEnter={point}
      onMouseLeave={leave}
      onFocus={() => {
        props.focusable.value = slot;
        point();
      }}
      onBlur={leave}
    >
      <title>{node.parameters === undefined ? title : `${title}, ${node.parameters}`}</title>
      <rect x={left} y={place.y} width={place.width} height={BOX_HEIGHT} rx={node.is_source ? BOX_HEIGHT / 3 : 5} />
      <text class="title" x={text} y={place.y + 16}>
        {lines.title}
      </text>
      <text class={hasValue ? "value" : "value hidden"} x={text} y={place.y + 33}>
        {lines.value}
      </text>
      <text class={hasAdjoint ? "adjoint" : "adjoint hidden"} x={text} y={place.y + 49}>
        {lines.adjoint}
      </text>
    </g>
  );
}

function describe({ node, title }: Vertex, hasValue: boolean, hasAdjoint: boolean): string {
  const { value, adjoint, is_source, is_target, place } = node;
  const parts = [
    is_source ? `source ${title}` : is_target ? `target ${title}` : title,
    ...(hasValue && value !== null ? [`value ${summaryText(value)}`] : []),
    ...(hasAdjoint && adjoint !== null ? [`adjoint ${summaryText(adjoint)}`] : []),
    ...(place.line === undefined ? [] : [`line ${place.line}`]),
  ];
  return parts.join(", ");
}

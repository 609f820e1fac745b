/** The recorded program as textbooks draw it: each node with its value and its adjoint. */

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";

import type { Drawing } from "./drawing.ts";
import { type Box, type Edge, type Layout, layoutOf, type Place, type Point } from "./layout.ts";
import { type Lines, linesOf, NodeView, widthOf } from "./NodeView.tsx";
import type { Step } from "./sweeps.ts";

const ZOOM = 1.25;
const [SMALLEST, LARGEST] = [0.2, 3];
/** What fits is not smaller than this: the frame scrolls instead. */
const SMALLEST_FIT = 0.75;
/** More sources than that are each beside what reads them, rather than all in the first layer. */
const MOST_SOURCES_FIRST = 4;

/** `shown` steps have been made, the last of them is `step`. */
export function Graph({ drawing, steps, shown, children }: { drawing: Drawing; steps: readonly Step[]; shown: number; children: ComponentChildren }) {
  const frame = useRef<HTMLDivElement>(null);
  // Null fits the drawing to the width.
  const scale = useSignal<number | null>(null);
  const { vertices } = drawing;
  const lines = useMemo(() => new Map([...vertices].map(([slot, vertex]) => [slot, linesOf(vertex)])), [drawing]);
  const layout = useMemo(() => layoutOf(boxesOf(drawing, lines)), [drawing]);
  const focusable = useSignal<number | null>(null);
  const entry = focusable.value !== null && vertices.has(focusable.value) ? focusable.value : layout.layers[0]?.[0];
  const step = steps[shown];
  const [valueAt, adjointAt] = useMemo(() => [timesOf(steps, "forward"), timesOf(steps, "backward")], [steps]);
  const isDone = shown === steps.length - 1;

  useEffect(() => {
    const [slot] = step?.slots ?? [];
    if (frame.current !== null && slot !== undefined && step?.slots.length === 1) show(frame.current, slot);
  }, [step]);

  const { width, height } = layout;
  const least = { minWidth: width * SMALLEST_FIT, minHeight: height * SMALLEST_FIT };
  const zoom = (factor: number) => {
    const now = frame.current?.querySelector("svg")?.getScreenCTM()?.a ?? 1;
    scale.value = Math.min(LARGEST, Math.max(SMALLEST, now * factor));
  };
  const move = (event: KeyboardEvent) => {
    const slot = Number((event.target as Element).getAttribute("data-slot"));
    const to = neighbour(layout, vertices, slot, event.key);
    if (to === undefined) return;
    event.preventDefault();
    frame.current?.querySelector<SVGGElement>(`[data-slot="${to}"]`)?.focus();
  };
  return (
    <div class="graph">
      <div class="frame" ref={frame} role="region" aria-label="Drawing" tabIndex={0}>
        <svg
          role="group"
          aria-label="Graph of the program: arrow keys go along its edges"
          viewBox={`0 0 ${width} ${height}`}
          class={scale.value === null ? "fit" : ""}
          style={scale.value === null ? { ...least, maxWidth: width, maxHeight: height } : { width: width * scale.value, height: height * scale.value }}
          onKeyDown={move}
        >
          {layout.edges.map((edge) => (
            <EdgeView key={`${edge.from} ${edge.to}`} edge={edge} />
          ))}
          {step !== undefined && litOf(layout, step).map((edge) => <Lit key={`${shown} ${edge.from} ${edge.to}`} edge={edge} sweep={step.sweep} />)}
          {[...vertices.values()].map((vertex) => {
            const { slot } = vertex.node;
            return (
              <NodeView
                key={slot}
                vertex={vertex}
                lines={lines.get(slot) as Lines}
                place={layout.places.get(slot) as Place}
                hasValue={(valueAt.get(slot) ?? Infinity) <= shown}
                hasAdjoint={(adjointAt.get(slot) ?? Infinity) <= shown}
                sweep={!isDone && step?.slots.includes(slot) ? step.sweep : ""}
                isEntry={slot === entry}
                focusable={focusable}
              />
            );
          })}
        </svg>
      </div>
      <div class="under">
        {children}
        <div class="zoom" role="group" aria-label="Zoom">
          <button type="button" aria-label="Smaller" onClick={() => zoom(1 / ZOOM)}>
            −
          </button>
          <button type="button" onClick={() => (scale.value = null)}>
            Fit
          </button>
          <button type="button" aria-label="Larger" onClick={() => zoom(ZOOM)}>
            +
          </button>
        </div>
      </div>
    </div>
  );
}

function boxesOf({ vertices }: Drawing, lines: ReadonlyMap<number, Lines>): Box[] {
  const order = [...vertices.values()];
  const isFirst = order.filter(({ node }) => node.is_source).length <= MOST_SOURCES_FIRST;
  return order.map(({ node, operands }) => {
    const end = node.is_target ? { end: "last" as const } : node.is_source && isFirst ? { end: "first" as const } : {};
    return { key: node.slot, width: widthOf(lines.get(node.slot) as Lines), operands, ...end };
  });
}

/** The step in which each node gets its value, or its adjoint. */
function timesOf(steps: readonly Step[], sweep: Step["sweep"]): ReadonlyMap<number, number> {
  return new Map(steps.flatMap((step, i) => (step.sweep === sweep ? step.slots.map((slot): [number, number] => [slot, i]) : [])));
}

/** The edges along which a step goes. */
function litOf({ edges }: Layout, { sweep, slots, from }: Step): readonly Edge[] {
  const [ends, starts] = [new Set(slots), new Set(from)];
  return edges.filter((edge) => (sweep === "forward" ? ends.has(edge.to) && starts.has(edge.from) : ends.has(edge.from) && starts.has(edge.to)));
}

/** Curves from layer to layer, straight past each. */
function pathOf(points: readonly Point[]): string {
  return points
    .map(([x, y], i) => {
      const [x0, y0] = points[i - 1] ?? [x, y];
      if (i === 0) return `M${x} ${y}`;
      return i % 2 === 0 ? `V${y}` : `C${x0} ${(y0 + y) / 2} ${x} ${(y0 + y) / 2} ${x} ${y}`;
    })
    .join("");
}

function head([x, y]: Point, size: number): string {
  return `M${x - 4} ${y - size}L${x} ${y}L${x + 4} ${y - size}`;
}

function EdgeView({ edge: { points } }: { edge: Edge }) {
  return <path class="edge" d={pathOf(points) + head(points.at(-1) as Point, 6)} />;
}

/** An edge while a value, or an adjoint, goes along it. */
function Lit({ edge: { points }, sweep }: { edge: Edge; sweep: Step["sweep"] }) {
  const way = sweep === "forward" ? points : [...points].reverse();
  return (
    <g class={`lit ${sweep}`}>
      <path class="flow" pathLength={1} d={pathOf(way)} />
      <path d={head(way.at(-1) as Point, sweep === "forward" ? 7 : -7)} />
    </g>
  );
}

/** Where an arrow key leads: down to what reads a node, up to its operands, left and right in its layer. */
function neighbour({ places, layers }: Layout, vertices: Drawing["vertices"], slot: number, key: string): number | undefined {
  const [vertex, place] = [vertices.get(slot), places.get(slot)];
  if (vertex === undefined || place === undefined) return undefined;
  const distance = (one: number) => Math.abs((places.get(one)?.x ?? Infinity) - place.x);
  const nearest = (slots: readonly number[]) => [...slots].sort((a, b) => distance(a) - distance(b))[0];
  const row = layers[place.layer] ?? [];
  switch (key) {
    case "ArrowDown":
      return nearest(vertex.readers);
    case "ArrowUp":
      return nearest(vertex.operands);
    case "ArrowLeft":
      return row[row.indexOf(slot) - 1];
    case "ArrowRight":
      return row[row.indexOf(slot) + 1];
    case "Home":
      return layers[0]?.[0];
    case "End":
      return layers.at(-1)?.[0];
    default:
      return undefined;
  }
}

/** Scroll a frame, and nothing around it, so that a node is seen. */
function show(frame: HTMLElement, slot: number): void {
  const [box, inner] = [frame.querySelector(`[data-slot="${slot}"]`)?.getBoundingClientRect(), frame.getBoundingClientRect()];
  if (box === undefined) return;
  const beyond = (start: number, end: number, from: number, to: number) => (start < from ? start - from : Math.max(0, Math.min(start - from, end - to)));
  const room = 24;
  frame.scrollBy(beyond(box.left - room, box.right + room, inner.left, inner.right), beyond(box.top - room, box.bottom + room, inner.top, inner.bottom));
}

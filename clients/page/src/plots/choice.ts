/** What is plotted: which view, which coordinates, which parts of their axes; and how the variables are moved. */

import { batch, computed, signal } from "@preact/signals";

import { answer } from "../model/answer.ts";
import { large, program, query, type Query, request, sentVariables } from "../model/document.ts";
import { leavesOf, setLeaf, variables, variablesFault } from "../model/variables.ts";
import { LatestRequest } from "../service/latest.ts";
import { type Coordinate, coordinatesOf, floatsOf, isSource, withElements, withExamples } from "./coordinates.ts";
import { around, contains, type Range, zoomed } from "./range.ts";
import { type Axis, type Here, hereOf, type Samples, samplesOf } from "./samples.ts";

export type View = "curve" | "contours" | "bars" | "matrix";

export const coordinates = computed(() => coordinatesOf(variables.value, request.value["sources"], new Set(large.value.keys())));

/** How many numbers the sources have in all. */
const sizeOfSources = computed(() => {
  const { sources } = request.value;
  let size = 0;
  for (const [path, leaf] of leavesOf(variables.value))
    if (isSource(path, sources) && !large.value.has(path)) size += floatsOf(leaf)?.numbers.length ?? 0;
  for (const [path, { leaf }] of large.value)
    if (leaf !== null && isSource(path, sources)) size += leaf.shape.reduce((product, length) => product * length, 1);
  return size;
});

/** The views that say something of the query and its sources. */
export const views = computed<View[]>(() => {
  const found: View[] = [];
  if (query.value === "jacobian" || query.value === "hessian") found.push("matrix");
  if (coordinates.value.length >= 1) found.push("curve");
  if (coordinates.value.length >= 2) found.push("contours");
  if (query.value === "gradient" || query.value === "hessian") found.push("bars");
  return found;
});

const chosen = signal<{ readonly [query in Query]?: View }>({});

/** The chosen view, or else the one that fits the number of sources. */
export const view = computed<View | null>(() => {
  const bySize: View = sizeOfSources.value === 1 ? "curve" : sizeOfSources.value === 2 ? "contours" : "bars";
  const fitting: View = query.value === "jacobian" || query.value === "hessian" ? "matrix" : bySize;
  return [chosen.value[query.value], fitting, ...views.value].find((one) => one !== undefined && views.value.includes(one)) ?? null;
});

export function choose(to: View): void {
  chosen.value = { ...chosen.value, [query.value]: to };
}

/** The names of the coordinates chosen for the axes. */
const names = signal<readonly [x: string, y: string]>(["", ""]);

/** The coordinates of the axes; fewer than two if there are no more. */
export const chosenCoordinates = computed<Coordinate[]>(() => {
  const all = coordinates.value;
  const x = all.find(({ name }) => name === names.value[0]) ?? all[0];
  const others = all.filter((one) => one !== x);
  const y = others.find(({ name }) => name === names.value[1]) ?? others[0];
  return [x, y].filter((one) => one !== undefined);
});

/** Choose the coordinate of an axis; the axes change places rather than show the same. */
export function chooseCoordinate(axis: 0 | 1, name: string): void {
  const [x, y] = chosenCoordinates.value;
  const other = axis === 0 ? y : x;
  const kept = other?.name === name ? ((axis === 0 ? x : y)?.name ?? "") : (other?.name ?? "");
  names.value = axis === 0 ? [name, kept] : [kept, name];
}

const ranges = new Map<string, Range>();
/** Counts the changes of ranges. */
const zooms = signal(0);

/** Where a plot has moved coordinates to. */
const movedTo = new Map<string, number>();
/** The part of a range in its middle where a coordinate that has another new value is still well seen. */
const MIDDLE = 0.9;

/** The range of a coordinate's axis. It stays while the coordinate is dragged within it. */
function rangeFor({ name, value }: Coordinate): Range {
  void zooms.value;
  const held = ranges.get(name);
  if (held !== undefined) {
    const seen = movedTo.get(name) === value ? held : zoomed(held, (held.from + held.to) / 2, MIDDLE);
    if (contains(seen, value) || !Number.isFinite(value)) return held;
  }
  const range = around(value);
  ranges.set(name, range);
  return range;
}

/** Widen or narrow the axes by a factor, with the variables in the middle; null is the first width again. */
export function zoom(axes: readonly Axis[], factor: number | null): void {
  for (const { coordinate, range } of axes) {
    const { name, value } = coordinate;
    const middle = Number.isFinite(value) ? value : (range.from + range.to) / 2;
    ranges.set(name, factor === null ? around(value) : zoomed(range, middle, factor));
  }
  zooms.value += 1;
}

const axesOf = (count: 1 | 2) =>
  computed<Axis[]>(() => chosenCoordinates.value.slice(0, count).map((coordinate) => ({ coordinate, range: rangeFor(coordinate) })));

/** The target at some coordinates' values: of one axis, or of two. */
export class Sampled {
  readonly axes;
  readonly latest = new LatestRequest<Samples>();
  /** What is asked, without the axes' own values: these change nothing of it. */
  readonly #asked;

  constructor(count: 1 | 2) {
    this.axes = axesOf(count);
    this.#asked = computed(() => {
      if (variablesFault.value !== null || program.value.trim() === "" || this.axes.value.length < count) return null;
      const axes = this.axes.value.map(({ coordinate: { name }, range }) => ({ name, range }));
      const fixed = this.axes.value.map(({ coordinate }) => ({ coordinate, values: Float64Array.of(0) }));
      return JSON.stringify([axes, program.value, withExamples(sentVariables.value, fixed)]);
    });
  }

  /** Ask while the plot is shown; returns what ends that. */
  follow(): () => void {
    return this.latest.follow(() => {
      if (this.#asked.value === null) return null;
      return samplesOf(program.peek(), sentVariables.peek(), this.axes.peek());
    });
  }

  /** The target where the variables are now, if the answer to them is there. */
  readonly here = computed<Here | null>(() => {
    const given = answer.value;
    if (given === null || given.request !== request.value) return null;
    return hereOf(given, this.axes.value.map(({ coordinate }) => coordinate));
  });
}

export const curve = new Sampled(1);
export const grid = new Sampled(2);

/** Change coordinates of the variables, unless their text is being typed and cannot be read. */
export function move(changes: readonly (readonly [name: string, value: number])[]): void {
  if (variablesFault.value !== null) return;
  batch(() => {
    for (const [name, value] of changes) {
      const found = coordinates.value.find((one) => one.name === name);
      const leaf = leavesOf(variables.value).find(([path]) => path === found?.path)?.[1];
      if (found === undefined || leaf === undefined) continue;
      movedTo.set(name, value);
      setLeaf(found.path, withElements(leaf, new Map([[found.index, value]])));
    }
  });
}

/**
 * A drawing of a directed acyclic graph in layers, edges downwards.
 *
 * Source: Sugiyama, Tagawa and Toda, Methods for visual understanding of hierarchical system
 * structures (1981): layers by longest paths, an order in each by barycentres, then positions.
 */

export interface Box {
  readonly key: number;
  readonly width: number;
  /** Keys of boxes that come earlier. */
  readonly operands: readonly number[];
  /** Whether it belongs in the first layer, or in the last: others are close to their readers. */
  readonly end?: "first" | "last";
}

export interface Place {
  /** Of its middle. */
  readonly x: number;
  /** Of its upper side. */
  readonly y: number;
  readonly width: number;
  readonly layer: number;
}

export type Point = readonly [x: number, y: number];

export interface Edge {
  readonly from: number;
  readonly to: number;
  /** From the lower side of one box to the upper side of another, past those between them. */
  readonly points: readonly Point[];
}

export interface Layout {
  readonly width: number;
  readonly height: number;
  readonly places: ReadonlyMap<number, Place>;
  /** Keys from left to right, layer by layer. */
  readonly layers: readonly (readonly number[])[];
  readonly edges: readonly Edge[];
}

/** What stands in a layer: a box, or an edge that passes it. */
interface Item {
  readonly key: number;
  readonly isBox: boolean;
  readonly width: number;
  readonly above: Item[];
  readonly below: Item[];
  x: number;
  /** Its place in the order of its layer. */
  rank: number;
}

export const BOX_HEIGHT = 56;
const GAP = 28;
const SEPARATION = 14;
const PASSING_WIDTH = 8;
const MARGIN = 8;
const ROUNDS = 12;
const PORT_DISTANCE = 18;

export function layoutOf(boxes: readonly Box[]): Layout {
  const layerOf = layersOf(boxes);
  const { layers, chains } = itemsOf(boxes, layerOf);
  order(layers);
  position(layers);
  return drawn(boxes, layers, chains, layerOf);
}

/** The layer of each box: below all its operands. */
function layersOf(boxes: readonly Box[]): ReadonlyMap<number, number> {
  const layers = new Map<number, number>();
  for (const { key, operands } of boxes) layers.set(key, Math.max(-1, ...operands.map((one) => layers.get(one) ?? -1)) + 1);
  const last = Math.max(0, ...layers.values());
  const read = new Set(boxes.flatMap(({ operands }) => operands));
  for (const { key, end } of boxes) if (end === "last" && !read.has(key)) layers.set(key, last);
  const firstReader = new Map<number, number>();
  for (const { key, operands } of boxes)
    for (const one of operands) firstReader.set(one, Math.min(firstReader.get(one) ?? Infinity, layers.get(key) ?? 0));
  for (const { key, operands, end } of boxes) {
    const reader = firstReader.get(key);
    if (end !== "first" && operands.length === 0 && reader !== undefined) layers.set(key, reader - 1);
  }
  return layers;
}

/** The items of each layer; an edge to several layers passes those between as one chain of items. */
function itemsOf(boxes: readonly Box[], layerOf: ReadonlyMap<number, number>) {
  const layers: Item[][] = [];
  const chains = new Map<number, Item[]>();
  const add = (layer: number, key: number, isBox: boolean, width: number): Item => {
    const row = (layers[layer] ??= []);
    const item: Item = { key, isBox, width, above: [], below: [], x: 0, rank: row.length };
    row.push(item);
    return item;
  };
  const join = (above: Item, below: Item) => {
    above.below.push(below);
    below.above.push(above);
  };
  for (const { key, width } of boxes) chains.set(key, [add(layerOf.get(key) ?? 0, key, true, width)]);
  for (const { key, operands } of boxes) {
    const [own] = chains.get(key) ?? [];
    for (const one of new Set(operands)) {
      const chain = chains.get(one);
      if (own === undefined || chain === undefined) continue;
      const top = layerOf.get(one) ?? 0;
      const length = (layerOf.get(key) ?? 0) - top;
      while (chain.length < length) {
        const passing = add(top + chain.length, one, false, PASSING_WIDTH);
        join(chain.at(-1) as Item, passing);
        chain.push(passing);
      }
      join(chain[length - 1] as Item, own);
    }
  }
  return { layers, chains };
}

/** Order each layer by the mean rank of what its items are joined to, and keep the best order. */
function order(layers: Item[][]): void {
  let [best, fewest] = [layers.map((row) => [...row]), crossings(layers)];
  for (let round = 0; round < ROUNDS && fewest > 0; round += 1) {
    const isDown = round % 2 === 0;
    const rows = isDown ? layers : [...layers].reverse();
    for (const row of rows) {
      const mean = new Map(row.map((item) => [item, meanOf(isDown ? item.above : item.below, "rank") ?? item.rank]));
      row.sort((a, b) => (mean.get(a) ?? 0) - (mean.get(b) ?? 0) || a.rank - b.rank);
      rank(row);
    }
    const count = crossings(layers);
    if (count < fewest) [best, fewest] = [layers.map((row) => [...row]), count];
  }
  best.forEach((row, i) => (layers[i] = row));
  layers.forEach(rank);
}

function rank(row: readonly Item[]): void {
  row.forEach((item, i) => (item.rank = i));
}

function meanOf(items: readonly Item[], of: "rank" | "x"): number | undefined {
  return items.length === 0 ? undefined : items.reduce((sum, item) => sum + item[of], 0) / items.length;
}

/** The number of pairs of edges that cross between two layers. */
function crossings(layers: readonly (readonly Item[])[]): number {
  let count = 0;
  for (const row of layers) {
    const ends = row.flatMap((item) => item.below.map((below) => [item.rank, below.rank] as const));
    for (const [i, [a, b]] of ends.entries()) for (const [c, d] of ends.slice(i + 1)) if ((a - c) * (b - d) < 0) count += 1;
  }
  return count;
}

/** Move items towards what they are joined to, in turn from above and from below. */
function position(layers: readonly Item[][]): void {
  for (const row of layers) place(row, (_, i) => i * SEPARATION);
  for (let round = 0; round < ROUNDS; round += 1) {
    const isDown = round % 2 === 0;
    for (const row of isDown ? layers : [...layers].reverse()) place(row, (item) => meanOf(isDown ? item.above : item.below, "x") ?? item.x);
  }
  for (const row of layers) place(row, (item) => meanOf([...item.above, ...item.below], "x") ?? item.x);
}

/**
 * The positions nearest to those wanted, by least squares, in the row's order and without overlap.
 *
 * Source: Barlow and others, Statistical Inference under Order Restrictions (1972): pool adjacent
 * violators.
 */
function place(row: readonly Item[], wanted: (item: Item, index: number) => number): void {
  const offsets: number[] = [];
  const pools: { sum: number; weight: number; count: number }[] = [];
  for (const [i, item] of row.entries()) {
    const before = row[i - 1];
    offsets.push(before === undefined ? 0 : (offsets[i - 1] ?? 0) + (before.width + item.width) / 2 + SEPARATION);
    // Edges that pass a layer are straight rather than boxes in the middle.
    const weight = item.isBox ? 1 : 4;
    pools.push({ sum: weight * (wanted(item, i) - (offsets[i] ?? 0)), weight, count: 1 });
    for (let last = pools.at(-1), next = pools.at(-2); last && next && next.sum / next.weight > last.sum / last.weight; last = pools.at(-1), next = pools.at(-2)) {
      pools.pop();
      next.sum += last.sum;
      next.weight += last.weight;
      next.count += last.count;
    }
  }
  const means = pools.flatMap(({ sum, weight, count }) => Array.from({ length: count }, () => sum / weight));
  row.forEach((item, i) => (item.x = (means[i] ?? 0) + (offsets[i] ?? 0)));
}

function drawn(boxes: readonly Box[], layers: readonly Item[][], chains: ReadonlyMap<number, Item[]>, layerOf: ReadonlyMap<number, number>): Layout {
  const items = layers.flat();
  const start = items.length === 0 ? 0 : Math.min(...items.map(({ x, width }) => x - width / 2));
  const shift = MARGIN - start;
  const right = Math.max(0, ...items.map(({ x, width }) => x + width / 2 + shift));
  const top = (layer: number) => MARGIN + layer * (BOX_HEIGHT + GAP);
  const places = new Map<number, Place>();
  for (const [layer, row] of layers.entries())
    for (const { key, isBox, x, width } of row) if (isBox) places.set(key, { x: x + shift, y: top(layer), width, layer });
  const edges = boxes.flatMap(({ key, operands }) => {
    const place = places.get(key);
    if (place === undefined) return [];
    const ways = [...new Set(operands)].map((one) => {
      const first = layerOf.get(one) ?? 0;
      return { one, first, way: (chains.get(one) ?? []).slice(0, place.layer - first) };
    });
    // They arrive side by side, in the order in which they come.
    ways.sort((a, b) => (a.way.at(-1)?.x ?? 0) - (b.way.at(-1)?.x ?? 0));
    const distance = Math.min(PORT_DISTANCE, (place.width - 2 * PORT_DISTANCE) / ways.length);
    return ways.map(({ one, first, way }, i): Edge => {
      const passed = way.slice(1).flatMap((item, j): Point[] => {
        const [x, y] = [item.x + shift, top(first + 1 + j)];
        return [[x, y], [x, y + BOX_HEIGHT]];
      });
      const begin: Point = [(places.get(one)?.x ?? 0), top(first) + BOX_HEIGHT];
      const end: Point = [place.x + (i - (ways.length - 1) / 2) * distance, place.y];
      return { from: one, to: key, points: [begin, ...passed, end] };
    });
  });
  return {
    width: right + MARGIN,
    height: layers.length === 0 ? 2 * MARGIN : top(layers.length - 1) + BOX_HEIGHT + MARGIN,
    places,
    layers: layers.map((row) => row.filter(({ isBox }) => isBox).map(({ key }) => key)),
    edges,
  };
}

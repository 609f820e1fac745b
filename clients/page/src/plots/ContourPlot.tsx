/** The target over two coordinates: contours, the gradient, and the descent from under the pointer. */

import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";

import { shortNumber, statistics } from "../answer/numbers.ts";
import { Axes, useWidth } from "./Axes.tsx";
import { grid, move, zoom } from "./choice.ts";
import { arrowsOf, contoursOf, holesOf } from "./contours.ts";
import { type Descent, descend, type Point } from "./descent.ts";
import { acrossOf, downOf, type Frame, numbersAt, pathOf } from "./frame.ts";
import { Surface } from "./interpolation.ts";
import { NumbersTable } from "./NumbersTable.tsx";
import { rounded, spaced } from "./range.ts";
import { GRID_PLACES, type Here, type Samples } from "./samples.ts";

const HEIGHT = 380;
/** Steps of a key over a side of the picture, and of one with Shift. */
const STEPS = 50;
const LARGE_STEPS = 5;

const ENDS: { readonly [end in Descent["end"]]: string } = {
  rest: "Descent comes to rest near",
  edge: "Descent leaves the picture at",
  nonfinite: "Descent meets values that are not finite at",
};

export function ContourPlot() {
  useEffect(() => grid.follow(), []);
  const { element, width } = useWidth();
  const samples = grid.latest.answer.value;
  return (
    <div ref={element} class="plot-room contour-room">
      {samples !== null && width > 0 && <Drawn samples={samples} width={width} />}
    </div>
  );
}

function Drawn({ samples, width }: { samples: Samples; width: number }) {
  const [first, second] = samples.axes as [Samples["axes"][0], Samples["axes"][0]];
  /** Where the pointer or the keys are; null where the variables are. */
  const cursor = useSignal<Point | null>(null);
  const [frame, surface, still] = useMemo(() => {
    const frame: Frame = { width, height: HEIGHT, x: first.range, y: second.range };
    const [fx, fy] = samples.slopes;
    const surface = new Surface(first.range, second.range, GRID_PLACES, samples.values, fx && fy ? [fx, fy] : null);
    const holes = holesOf(surface, frame);
    const still = (
      <>
        {contoursOf(surface, frame).map(({ level, path }) => (
          <path key={level} class="contour" d={path} fill-rule="evenodd" />
        ))}
        <path class="hole" d={holes} />
        <path d={holes} fill="url(#plot-hatch)" />
        {fx && fy && <path class="arrows" d={arrowsOf(surface, frame)} />}
      </>
    );
    return [frame, surface, still] as const;
  }, [samples, width]);
  const { min, max, nonfinite } = statistics(samples.values);
  const hasGradient = samples.slopes.every((one) => one !== null);

  const names = [first.coordinate.name, second.coordinate.name] as const;
  const current = grid.axes.value.map(({ coordinate }) => coordinate);
  const isCurrent = current[0]?.name === names[0] && current[1]?.name === names[1];
  const point: Point = isCurrent ? [current[0]!.value, current[1]!.value] : [first.coordinate.value, second.coordinate.value];
  const exact = grid.here.value;
  const here = exact !== null && exact.at[0] === point[0] && exact.at[1] === point[1] ? exact : between(surface, point, hasGradient);
  const start = cursor.value ?? point;
  const descent = hasGradient ? descend(surface, start) : null;
  const pixels = ([x, y]: Point): [number, number] => [acrossOf(frame, x), downOf(frame, y)];
  const hold = ([x, y]: Point): Point => [rounded(x, frame.x), rounded(y, frame.y)];

  const take = ([x, y]: Point) => move([[names[0], x], [names[1], y]]);
  const placeOf = (event: PointerEvent): Point => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    return hold(numbersAt(frame, event.clientX - box.left, event.clientY - box.top));
  };
  const press = (event: KeyboardEvent) => {
    const by = event.shiftKey ? LARGE_STEPS : 1;
    const step = { ArrowRight: [by, 0], ArrowLeft: [-by, 0], ArrowUp: [0, by], ArrowDown: [0, -by] }[event.key];
    if (step !== undefined) {
      const along = (at: 0 | 1, { from, to }: { from: number; to: number }) => start[at] + ((step[at] ?? 0) * (to - from)) / STEPS;
      cursor.value = hold([along(0, frame.x), along(1, frame.y)]);
    } else if (event.key === "Enter" || event.key === " ") {
      take(start);
      cursor.value = null;
    } else if (event.key === "Escape") cursor.value = null;
    else if (event.key === "+" || event.key === "-") zoom(grid.axes.value, event.key === "+" ? 0.5 : 2);
    else return;
    event.preventDefault();
  };
  const textOf = ([x, y]: Point) => `${names[0]} = ${shortNumber(x)}, ${names[1]} = ${shortNumber(y)}`;
  const last = descent?.path.at(-1);
  return (
    <>
      <div
        class="plot"
        role="application"
        tabIndex={0}
        aria-label={`Contours over ${names[0]} and ${names[1]}`}
        aria-describedby="contours-key"
        onKeyDown={press}
        onPointerDown={(event) => {
          if (event.button !== 0) return;
          event.currentTarget.setPointerCapture(event.pointerId);
          take(placeOf(event));
        }}
        onPointerMove={(event) => {
          cursor.value = placeOf(event);
          if (event.currentTarget.hasPointerCapture(event.pointerId)) take(cursor.value);
        }}
        onPointerLeave={() => (cursor.value = null)}
        onBlur={() => (cursor.value = null)}
      >
        <Axes frame={frame} xName={names[0]} yName={names[1]}>
          {still}
          {descent !== null && <path class="descent" d={pathOf(descent.path.map(pixels))} />}
          {descent?.end === "rest" && last !== undefined && <circle class="rest" cx={pixels(last)[0]} cy={pixels(last)[1]} r="4" />}
          {cursor.value !== null && <circle class="cursor" cx={pixels(start)[0]} cy={pixels(start)[1]} r="4" />}
          {point.every(Number.isFinite) && <circle class="point" cx={pixels(point)[0]} cy={pixels(point)[1]} r="6" />}
        </Axes>
      </div>
      <p class="plot-readout" role="status">
        {textOf(start)}: {samples.name}{" "}
        {cursor.value === null ? shortNumber(here.value) : `about ${shortNumber(surface.valueAt(...start))}`}
        {descent !== null && last !== undefined && (
          <span>
            {ENDS[descent.end]} {textOf(hold(last))}
          </span>
        )}
      </p>
      <p class="quiet plot-key" id="contours-key">
        From {shortNumber(min)} to {shortNumber(max)}: more colour is higher. {hasGradient ? "Arrows are the gradient. " : "There is no gradient. "}
        {nonfinite > 0 && "Hatched: not finite. "}
        Click or drag to move the variables; with keys, arrows move the cursor, Enter takes its place, + and − zoom.
      </p>
      <NumbersTable
        columns={["", names[0], names[1], samples.name, ...(hasGradient ? [`∂/∂${names[0]}`, `∂/∂${names[1]}`] : [])]}
        rows={[
          row("variables", here),
          ...(descent === null || last === undefined ? [] : [row("end of descent", between(surface, last, hasGradient))]),
          row("lowest sample", lowest(samples)),
        ]}
      />
    </>
  );
}

function row(name: string, { at, value, slopes }: Here): string[] {
  return [name, ...[...at, value, ...slopes.filter((slope) => slope !== null)].map(shortNumber)];
}

/** The target between the samples. */
function between(surface: Surface, at: Point, hasGradient: boolean): Here {
  const { f, fx, fy } = surface.at(...at);
  return { at, value: f, slopes: hasGradient ? [fx, fy] : [null, null], isExact: false };
}

function lowest({ axes, values, slopes }: Samples): Here {
  let best = 0;
  values.forEach((value, i) => {
    if (value < (values[best] ?? NaN) || !Number.isFinite(values[best])) best = i;
  });
  const places = [best % GRID_PLACES, Math.floor(best / GRID_PLACES)];
  const at = axes.map(({ range }, axis) => spaced(range, GRID_PLACES)[places[axis]!]!);
  return { at, value: values[best] ?? NaN, slopes: slopes.map((one) => one?.[best] ?? null), isExact: true };
}

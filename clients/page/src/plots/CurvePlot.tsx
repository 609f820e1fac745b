/** The target as a function of one coordinate, with its tangent; the point moves the variable. */

import { useEffect } from "preact/hooks";

import { shortNumber } from "../answer/numbers.ts";
import { Axes, useWidth } from "./Axes.tsx";
import { curve, move, zoom } from "./choice.ts";
import { acrossOf, curvePath, downOf, type Frame, gapsOf, lineOf, MARGIN, numbersAt } from "./frame.ts";
import { curveAt } from "./interpolation.ts";
import { including, rangeOfValues, rounded, spaced } from "./range.ts";
import type { Here, Samples } from "./samples.ts";
import { NumbersTable } from "./NumbersTable.tsx";

const HEIGHT = 320;
/** Steps of a key over the width of the picture, and of PageUp and PageDown. */
const STEPS = 100;
const LARGE_STEPS = 10;

export function CurvePlot() {
  useEffect(() => curve.follow(), []);
  const { element, width } = useWidth();
  const samples = curve.latest.answer.value;
  return (
    <div ref={element} class="plot-room curve-room">
      {samples !== null && width > 0 && <Drawn samples={samples} width={width} />}
    </div>
  );
}

/** The target at the variable's value: the answer's own numbers, or those between the samples until it is there. */
function hereIn(samples: Samples, x: number): Here {
  const exact = curve.here.value;
  if (exact !== null && exact.at[0] === x) return exact;
  const [slopes = null] = samples.slopes;
  const { value, slope } = curveAt(samples.axes[0]!.range, samples.values, slopes, x);
  return { at: [x], value, slopes: [slopes === null ? null : slope], isExact: false };
}

function Drawn({ samples, width }: { samples: Samples; width: number }) {
  const [{ coordinate, range }] = samples.axes as [Samples["axes"][0]];
  const current = curve.axes.value[0]?.coordinate;
  const x = current?.name === coordinate.name ? current.value : coordinate.value;
  const here = hereIn(samples, x);
  const values = rangeOfValues([...samples.values, ...samples.parts.flatMap((part) => [...part])]);
  if (values === null) return <p class="quiet">The target is not finite anywhere in this range.</p>;
  const frame: Frame = { width, height: HEIGHT, x: range, y: including(values, here.value) };
  const [slope = null] = here.slopes;
  const about = here.isExact ? "" : "about ";
  const { name } = samples;
  const text = `${name} ${about}${shortNumber(here.value)}${slope === null ? ", no derivative" : `, slope ${about}${shortNumber(slope)}`}`;

  const go = (to: number) => move([[coordinate.name, rounded(to, range)]]);
  const drag = (event: PointerEvent) => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    go(numbersAt(frame, event.clientX - box.left, 0)[0]);
  };
  const press = (event: KeyboardEvent) => {
    const step = (range.to - range.from) / STEPS;
    const steps: { [key: string]: number } = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: LARGE_STEPS, PageDown: -LARGE_STEPS };
    const to = event.key === "Home" ? range.from : event.key === "End" ? range.to : x + step * (steps[event.key] ?? NaN);
    if (event.key === "+" || event.key === "-") zoom(curve.axes.value, event.key === "+" ? 0.5 : 2);
    else if (Number.isNaN(to)) return;
    else go(to);
    event.preventDefault();
  };
  return (
    <>
      <div
        class="plot"
        role="slider"
        tabIndex={0}
        aria-label={`Point of the curve along ${coordinate.name}`}
        aria-valuemin={range.from}
        aria-valuemax={range.to}
        aria-valuenow={x}
        aria-valuetext={`${coordinate.name} ${shortNumber(x)}: ${text}`}
        onKeyDown={press}
        onPointerDown={(event) => {
          if (event.button !== 0) return;
          event.currentTarget.setPointerCapture(event.pointerId);
          drag(event);
        }}
        onPointerMove={(event) => event.currentTarget.hasPointerCapture(event.pointerId) && drag(event)}
      >
        <Axes frame={frame} xName={coordinate.name} yName={name}>
          {gapsOf(range, samples.values).map((gap) => (
            <rect
              key={gap.from}
              class="gap"
              x={acrossOf(frame, gap.from)}
              width={acrossOf(frame, gap.to) - acrossOf(frame, gap.from)}
              y={MARGIN.top}
              height={HEIGHT - MARGIN.top - MARGIN.bottom}
              fill="url(#plot-hatch)"
            />
          ))}
          {samples.parts.map((part, i) => (
            <path key={i} class="part" d={curvePath(frame, part)} />
          ))}
          <path class="curve" d={curvePath(frame, samples.values)} />
          {slope !== null && Number.isFinite(slope) && Number.isFinite(here.value) && (
            <line class="tangent" {...lineOf(frame, [x, here.value], slope)} />
          )}
          {Number.isFinite(here.value) && <circle class="point" cx={acrossOf(frame, x)} cy={downOf(frame, here.value)} r="6" />}
        </Axes>
      </div>
      <p class="plot-readout">
        {coordinate.name} = {shortNumber(x)}, {text}
      </p>
      <p class="quiet plot-key">
        {slope !== null && "The straight line is the tangent. "}
        {samples.parts.length > 0 && "Thin lines are the target's elements. "}
        {gapsOf(range, samples.values).length > 0 && "Hatched: not finite. "}
        Drag the point, or use the arrow keys; + and − zoom.
      </p>
      <NumbersTable
        columns={[coordinate.name, name, ...(slope === null ? [] : ["slope"])]}
        rows={[...spaced(range, 11)].map((at) => {
          const { value, slope: own } = curveAt(range, samples.values, samples.slopes[0] ?? null, at);
          return [at, value, ...(slope === null ? [] : [own])].map(shortNumber);
        })}
      />
    </>
  );
}

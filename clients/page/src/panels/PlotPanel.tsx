/** Plots: a curve, contours, bars or a matrix, by what is asked. */

import type { ComponentType } from "preact";

import { ProblemView } from "../answer/ProblemView.tsx";
import { Waiting } from "../answer/Waiting.tsx";
import { isAsking, isSlow, problem } from "../model/answer.ts";
import { query } from "../model/document.ts";
import { BarsPlot } from "../plots/BarsPlot.tsx";
import { choose, chooseCoordinate, chosenCoordinates, coordinates, curve, grid, type View, view, views, zoom } from "../plots/choice.ts";
import { ContourPlot } from "../plots/ContourPlot.tsx";
import { CurvePlot } from "../plots/CurvePlot.tsx";
import { MatrixPlot } from "../plots/MatrixPlot.tsx";
import { keyWanted } from "../service/client.ts";

const PLOTS: { readonly [view in View]: ComponentType } = { curve: CurvePlot, contours: ContourPlot, bars: BarsPlot, matrix: MatrixPlot };

export function PlotPanel() {
  const shown = view.value;
  if (shown === null)
    return <p class="quiet">There is nothing to plot: no source is a floating-point number or a small array of them.</p>;
  const sampled = shown === "curve" ? curve : shown === "contours" ? grid : null;
  const wrong = sampled === null ? problem.value : sampled.latest.problem.value;
  const isWaiting = sampled === null ? isSlow.value : sampled.latest.isSlow.value;
  const isBusy = sampled === null ? isAsking.value : sampled.latest.isAsking.value;
  const names = { curve: "curve", contours: "contours", bars: "sensitivities", matrix: query.value === "hessian" ? "Hessian" : "Jacobian" };
  const Plot = PLOTS[shown];
  return (
    <div class="plots" aria-busy={isBusy}>
      <div class="row">
        <label>
          Show the{" "}
          <select value={shown} onChange={(event) => choose(event.currentTarget.value as View)}>
            {views.value.map((one) => (
              <option key={one} value={one}>
                {names[one]}
              </option>
            ))}
          </select>
        </label>
        {shown === "curve" && <CoordinateField axis={0} label="along" />}
        {shown === "contours" && <CoordinateField axis={0} label="over" />}
        {shown === "contours" && <CoordinateField axis={1} label="and" />}
        {sampled !== null && (
          <span class="zoom">
            <button type="button" aria-label="Zoom in" onClick={() => zoom(sampled.axes.value, 0.5)}>
              +
            </button>
            <button type="button" aria-label="Zoom out" onClick={() => zoom(sampled.axes.value, 2)}>
              −
            </button>
            <button type="button" onClick={() => zoom(sampled.axes.value, null)}>
              Reset
            </button>
          </span>
        )}
      </div>
      <Waiting isSlow={isWaiting} />
      {sampled !== null && wrong !== null && problem.value === null && (
        <p class="quiet">Not at the variables' values, but elsewhere in the picture:</p>
      )}
      {wrong !== null && !(keyWanted.value && wrong.status === 401) && <ProblemView problem={wrong} />}
      <div class={wrong === null && !isWaiting ? "" : "old"}>
        <Plot />
      </div>
    </div>
  );
}

/** Which coordinate an axis has. */
function CoordinateField({ axis, label }: { axis: 0 | 1; label: string }) {
  return (
    <label>
      {label}{" "}
      <select value={chosenCoordinates.value[axis]?.name} onChange={(event) => chooseCoordinate(axis, event.currentTarget.value)}>
        {coordinates.value.map(({ name }) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

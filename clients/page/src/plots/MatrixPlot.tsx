/** A Jacobian or a Hessian as a picture: what is zero, and how large the rest is. */

import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";

import { colourOf } from "../answer/HeatMap.tsx";
import { shortNumber } from "../answer/numbers.ts";
import { type Answer, answer } from "../model/answer.ts";
import { useWidth } from "./Axes.tsx";
import { countsOf, type Matrix, matrixOf, nameAt, NoMatrix, pooled, type Side } from "./matrix.ts";

/** The size of the picture and of a cell, in pixels. */
const MOST_HEIGHT = 420;
const MOST_CELL = 28;
const MOST_PIXELS = 512;
/** Room for the names of rows and columns. */
const LEFT = 84;
const TOP = 22;
const LETTER = 7;
/** So much of the colours' range has the smallest element that is not zero. */
const LEAST_SHARE = 0.06;

export function MatrixPlot() {
  const { element, width } = useWidth();
  const given = answer.value;
  const isMatrix = given?.query === "jacobian" || given?.query === "hessian";
  return (
    <div ref={element} class="plot-room matrix-room">
      {isMatrix && width > 0 && <Checked given={given} width={width} />}
    </div>
  );
}

function Checked({ given, width }: { given: Answer; width: number }) {
  const matrix = useMemo(() => {
    try {
      return matrixOf(given);
    } catch (error) {
      if (error instanceof NoMatrix) return error.message;
      throw error;
    }
  }, [given]);
  if (typeof matrix === "string") return <p class="quiet">{matrix}</p>;
  return <Drawn matrix={matrix} isHessian={given.query === "hessian"} room={width} />;
}

/** Sides of the cells: squares where that is not too small. */
function cellsOf(matrix: Matrix, room: number): [wide: number, high: number] {
  const wide = Math.min(MOST_CELL, (room - LEFT - 2) / matrix.width);
  const high = Math.min(MOST_CELL, MOST_HEIGHT / matrix.height);
  const least = Math.min(wide, high);
  return Math.max(wide, high) <= 4 * least ? [least, least] : [wide, high];
}

function Drawn({ matrix, isHessian, room }: { matrix: Matrix; isHessian: boolean; room: number }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const cursor = useSignal<readonly [row: number, column: number] | null>(null);
  const isPattern = useSignal(false);
  const { zeros, nonfinite, largest } = useMemo(() => countsOf(matrix), [matrix]);
  const small = useMemo(() => pooled(matrix, MOST_PIXELS), [matrix]);
  const [wide, high] = cellsOf(matrix, room);
  const [width, height] = [wide * matrix.width, high * matrix.height];

  const place = { left: `${LEFT}px`, top: `${TOP}px`, width: `${wide * small.wide * small.width}px`, height: `${high * small.high * small.height}px` };

  useEffect(() => {
    const context = canvas.current?.getContext("2d");
    if (!context) return;
    const image = context.createImageData(small.width, small.height);
    small.values.forEach((value, i) => {
      if (value === 0) return;
      const shade = isPattern.value ? largest : Math.max(Math.abs(value), LEAST_SHARE * largest);
      image.data.set([...colourOf(Number.isFinite(value) ? Math.sign(value) * shade : value, largest), 255], 4 * i);
    });
    context.putImageData(image, 0, 0);
  }, [small, isPattern.value]);

  const point = (event: PointerEvent) => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const [column, row] = [Math.floor((event.clientX - box.left - LEFT) / wide), Math.floor((event.clientY - box.top - TOP) / high)];
    cursor.value = row < 0 || row >= matrix.height || column < 0 || column >= matrix.width ? null : [row, column];
  };
  const press = (event: KeyboardEvent) => {
    const step = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const by = event.shiftKey ? 10 : 1;
    const [row, column] = cursor.value ?? [-step[0]!, -step[1]!];
    const held = (place: number, length: number) => Math.min(length - 1, Math.max(0, place));
    cursor.value = [held(row + by * step[0]!, matrix.height), held(column + by * step[1]!, matrix.width)];
  };
  const count = matrix.height * matrix.width;
  const percent = shortNumber(Number(((100 * zeros) / count).toPrecision(3)));
  return (
    <>
      <div
        class="plot matrix-plot"
        role="application"
        tabIndex={0}
        aria-label={isHessian ? "Hessian matrix" : "Jacobian matrix"}
        aria-describedby="matrix-counts"
        style={{ height: `${height + TOP + 2}px`, width: `${width + LEFT + 2}px` }}
        onKeyDown={press}
        onPointerDown={point}
        onPointerMove={point}
        onPointerLeave={() => (cursor.value = null)}
        onBlur={() => (cursor.value = null)}
      >
        <canvas ref={canvas} width={small.width} height={small.height} aria-hidden="true" style={place} />
        <svg width={width + LEFT + 2} height={height + TOP + 2} aria-hidden="true">
          <rect class="border" x={LEFT} y={TOP} width={width} height={height} />
          {matrix.rows.map((side) => (
            <g key={side.name}>
              {side.start > 0 && <line class="block" x1={LEFT} x2={LEFT + width} y1={TOP + side.start * high} y2={TOP + side.start * high} />}
              <text class="tick" x={LEFT - 6} y={TOP + middle(side) * high + 4} text-anchor="end">
                {side.size * high >= 12 && shortened(side.name, LEFT - 8)}
              </text>
            </g>
          ))}
          {matrix.columns.map((side) => (
            <g key={side.name}>
              {side.start > 0 && <line class="block" y1={TOP} y2={TOP + height} x1={LEFT + side.start * wide} x2={LEFT + side.start * wide} />}
              <text class="tick" x={LEFT + middle(side) * wide} y={TOP - 7} text-anchor="middle">
                {shortened(side.name, side.size * wide - 2)}
              </text>
            </g>
          ))}
          {cursor.value !== null && (
            <rect class="cell" x={LEFT + cursor.value[1] * wide} y={TOP + cursor.value[0] * high} width={wide} height={high} />
          )}
        </svg>
      </div>
      <p class="plot-readout" role="status">
        {cursor.value === null ? (
          <span class="quiet">Point at an element, or move with the arrow keys.</span>
        ) : (
          elementText(matrix, isHessian, ...cursor.value)
        )}
      </p>
      <p id="matrix-counts">
        {matrix.height} × {matrix.width}: {zeros.toLocaleString("en")} of {count.toLocaleString("en")} elements are zero ({percent} %)
      </p>
      <p class="quiet plot-key">
        {nonfinite > 0 && `${nonfinite.toLocaleString("en")} are not finite (magenta). `}
        Red is positive, blue negative, nothing zero; the largest size is {shortNumber(largest)}.
      </p>
      <label>
        <input type="checkbox" checked={isPattern.value} onChange={(event) => (isPattern.value = event.currentTarget.checked)} /> only the pattern of
        zeros
      </label>
    </>
  );
}

const middle = ({ start, size }: Side) => start + size / 2;

/** As much of a name as there is room for; nothing if that is little. */
function shortened(name: string, pixels: number): string {
  const most = Math.floor(pixels / LETTER);
  return name.length <= most ? name : most < 3 ? "" : `${name.slice(0, most - 1)}…`;
}

function elementText({ rows, columns, values, width }: Matrix, isHessian: boolean, row: number, column: number): string {
  const [of, by, value] = [nameAt(rows, row), nameAt(columns, column), shortNumber(values[row * width + column] ?? NaN)];
  return isHessian ? `∂²/∂${of} ∂${by} = ${value}` : `∂${of} / ∂${by} = ${value}`;
}

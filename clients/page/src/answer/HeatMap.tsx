/** A picture of an array's elements: blue below zero, red above, darker further away. */

import { useEffect, useRef, useState } from "preact/hooks";

import type { Tensor } from "../service/tensor.ts";
import { shortNumber } from "./numbers.ts";

/** Wider or higher arrays are shown by every k-th element. */
const MOST_PIXELS = 512;

/** Rows and columns in which an array is drawn: the last axis lies across, the others down. */
export function planeOf(shape: readonly number[]): [rows: number, columns: number] {
  const size = shape.reduce((product, length) => product * length, 1);
  const columns = shape.at(-1) ?? 1;
  return [columns === 0 ? 0 : size / columns, columns];
}

/** The colour of a number relative to the largest size: red, green and blue, each 0 to 255. */
export function colourOf(value: number, largest: number): [number, number, number] {
  if (!Number.isFinite(value)) return [255, 0, 255];
  const share = largest === 0 ? 0 : Math.sqrt(Math.min(1, Math.abs(value) / largest));
  const fade = (end: number) => Math.round(245 + (end - 245) * share);
  return value < 0 ? [fade(20), fade(90), fade(200)] : [fade(200), fade(50), fade(30)];
}

export function HeatMap({ tensor, label }: { tensor: Tensor; label: string }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [under, setUnder] = useState("");
  const [rows, columns] = planeOf(tensor.shape);
  const [high, wide] = [Math.ceil(rows / MOST_PIXELS), Math.ceil(columns / MOST_PIXELS)];
  const [height, width] = [Math.ceil(rows / high), Math.ceil(columns / wide)];
  const at = (y: number, x: number) => y * high * columns + x * wide;

  useEffect(() => {
    const context = canvas.current?.getContext("2d");
    if (!context || width === 0 || height === 0) return;
    const image = context.createImageData(width, height);
    let largest = 0;
    for (const value of tensor.data) if (Number.isFinite(value)) largest = Math.max(largest, Math.abs(value));
    for (let y = 0; y < height; y += 1)
      for (let x = 0; x < width; x += 1)
        image.data.set([...colourOf(tensor.data[at(y, x)] ?? NaN, largest), 255], 4 * (y * width + x));
    context.putImageData(image, 0, 0);
  }, [tensor]);

  const point = (event: MouseEvent) => {
    const box = canvas.current?.getBoundingClientRect();
    if (box === undefined) return;
    const x = Math.min(width - 1, Math.floor(((event.clientX - box.left) / box.width) * width));
    const y = Math.min(height - 1, Math.floor(((event.clientY - box.top) / box.height) * height));
    const place = tensor.shape.length > 1 ? `row ${y * high}, column ${x * wide}` : `element ${x * wide}`;
    setUnder(`${place}: ${shortNumber(tensor.data[at(y, x)] ?? NaN)}`);
  };
  return (
    <figure class="heat-map">
      <canvas
        ref={canvas}
        width={width}
        height={height}
        class={rows === 1 ? "one-row" : ""}
        role="img"
        aria-label={`${label} as colours: blue is negative, red positive`}
        onMouseMove={point}
        onMouseLeave={() => setUnder("")}
      />
      <figcaption>{under || " "}</figcaption>
    </figure>
  );
}

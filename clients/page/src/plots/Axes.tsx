/** The axes of a plot with their numbers and names. */

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import { shortNumber } from "../answer/numbers.ts";
import { acrossOf, downOf, type Frame, MARGIN, ticksOf } from "./frame.ts";

/** Children are drawn within the frame, below its border. */
export function Axes({ frame, xName, yName, children }: { frame: Frame; xName: string; yName: string; children: ComponentChildren }) {
  const { width, height } = frame;
  const [right, bottom] = [width - MARGIN.right, height - MARGIN.bottom];
  return (
    <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
      <defs>
        <clipPath id="plot-frame">
          <rect x={MARGIN.left} y={MARGIN.top} width={right - MARGIN.left} height={bottom - MARGIN.top} />
        </clipPath>
        <pattern id="plot-hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <line class="hatch" x1="0" y1="0" x2="0" y2="6" />
        </pattern>
      </defs>
      {ticksOf(frame.x, right - MARGIN.left, 80).map((x) => (
        <g key={`x${x}`}>
          <line class="grid" x1={acrossOf(frame, x)} x2={acrossOf(frame, x)} y1={MARGIN.top} y2={bottom} />
          <text class="tick" x={acrossOf(frame, x)} y={bottom + 16} text-anchor="middle">
            {shortNumber(x)}
          </text>
        </g>
      ))}
      {ticksOf(frame.y, bottom - MARGIN.top, 45).map((y) => (
        <g key={`y${y}`}>
          <line class="grid" x1={MARGIN.left} x2={right} y1={downOf(frame, y)} y2={downOf(frame, y)} />
          <text class="tick" x={MARGIN.left - 6} y={downOf(frame, y) + 4} text-anchor="end">
            {shortNumber(y)}
          </text>
        </g>
      ))}
      <g clip-path="url(#plot-frame)">{children}</g>
      <rect class="border" x={MARGIN.left} y={MARGIN.top} width={right - MARGIN.left} height={bottom - MARGIN.top} />
      <text class="axis" x={(MARGIN.left + right) / 2} y={height - 6} text-anchor="middle">
        {xName}
      </text>
      <text class="axis" x={MARGIN.left} y={14}>
        {yName}
      </text>
    </svg>
  );
}

/** The width in pixels of an element, as the page is resized. */
export function useWidth() {
  const element = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    if (element.current === null) return undefined;
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)));
    observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  return { element, width };
}

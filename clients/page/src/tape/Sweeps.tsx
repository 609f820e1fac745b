/** The graph, and reverse mode on it as a short animation. */

import { signal, useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";

import type { Query } from "../model/document.ts";
import { drawingOf, MOST_DRAWN } from "./drawing.ts";
import type { GraphNode } from "./explained.ts";
import { Graph } from "./Graph.tsx";
import { NodeTable } from "./NodeTable.tsx";
import { stepsOf, type Sentence } from "./sweeps.ts";

const WHOLE_MILLISECONDS = 6000;
const LONGEST_STEP_MILLISECONDS = 450;

const stillness = matchMedia("(prefers-reduced-motion: reduce)");
/** Whether nothing may move by itself. */
const isStill = signal(stillness.matches);
stillness.addEventListener("change", () => (isStill.value = stillness.matches));

export function Sweeps({ nodes, query }: { nodes: readonly GraphNode[]; query: Query }) {
  const drawing = useMemo(() => drawingOf(nodes), [nodes]);
  return (
    <section class="sweeps" aria-label="Graph">
      <h3>Values forward, adjoints backward</h3>
      {drawing === null ? (
        <p class="quiet">
          The program has {nodes.length} nodes, and more than {MOST_DRAWN} of them have names: too many to draw. All are in the table.
        </p>
      ) : (
        <Player nodes={nodes} drawing={drawing} query={query} />
      )}
      <NodeTable nodes={nodes} />
    </section>
  );
}

function Player({ nodes, drawing, query }: { nodes: readonly GraphNode[]; drawing: NonNullable<ReturnType<typeof drawingOf>>; query: Query }) {
  const steps = useMemo(() => stepsOf(drawing), [drawing]);
  const last = steps.length - 1;
  // Infinity stays at the end while the program changes.
  const at = useSignal(Infinity);
  const isPlaying = useSignal(false);
  const shown = Math.min(at.value, last);
  const go = (to: number) => (at.value = to >= last ? Infinity : Math.max(0, to));
  const step = (to: number) => {
    isPlaying.value = false;
    go(to);
  };
  useEffect(() => {
    if (!isPlaying.value) return undefined;
    if (shown >= last) isPlaying.value = false;
    const timer = setTimeout(() => go(shown + 1), Math.min(LONGEST_STEP_MILLISECONDS, WHOLE_MILLISECONDS / steps.length));
    return () => clearTimeout(timer);
  }, [isPlaying.value, shown, last]);
  const play = () => {
    if (shown >= last) at.value = 0;
    isPlaying.value = true;
  };
  const position = `step ${shown + 1} of ${steps.length}`;
  return (
    <>
      <div class="player" role="group" aria-label="Animation">
        {!isStill.value && (
          <button type="button" class="play" onClick={() => (isPlaying.value ? (isPlaying.value = false) : play())}>
            {isPlaying.value ? "Pause" : "Play"}
          </button>
        )}
        <button type="button" onClick={() => step(0)} aria-disabled={shown === 0}>
          Restart
        </button>
        <button type="button" onClick={() => step(shown - 1)} aria-disabled={shown === 0}>
          Back
        </button>
        <button type="button" onClick={() => step(shown + 1)} aria-disabled={shown === last}>
          Step
        </button>
        <input
          type="range"
          min={0}
          max={last}
          value={shown}
          aria-label="Step"
          aria-valuetext={position}
          onInput={(event) => step(Number(event.currentTarget.value))}
        />
      </div>
      <p class="sentence" aria-live={isPlaying.value ? "off" : "polite"}>
        <SentenceView sentence={steps[shown]?.sentence ?? []} />
      </p>
      <Graph drawing={drawing} steps={steps} shown={shown}>
        <Legend drawing={drawing} total={nodes.length} query={query} />
      </Graph>
    </>
  );
}

function SentenceView({ sentence }: { sentence: Sentence }) {
  return <>{sentence.map((part, i) => (typeof part === "string" ? part : <code key={i}>{part.code}</code>))}</>;
}

function Legend({ drawing, total, query }: { drawing: NonNullable<ReturnType<typeof drawingOf>>; total: number; query: Query }) {
  const { vertices, isNamed } = drawing;
  const targets = [...vertices.values()].filter(({ node }) => node.is_target);
  const isSum = targets.some(({ node }) => node.shape?.length !== 0);
  return (
    <p class="quiet legend">
      {query !== "evaluate" && (
        <>
          <span class="adjoint">∂</span> is the adjoint: the derivative of {isSum ? "the sum of the target's elements" : "the target"} with respect to the node.
          Sources are round, the target has a bold frame.
        </>
      )}
      {isNamed && ` Of ${total} nodes, the ${vertices.size} with names are drawn; edges stand for the operations between them.`}
      {(query === "jacobian" || query === "hessian") && ` The instructions below compute the ${query === "jacobian" ? "Jacobian" : "Hessian"}.`}
    </p>
  );
}

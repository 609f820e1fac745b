/** The instructions that are replayed: type, place, costs, and measured times. */

import { type Explained, type Instruction, measure } from "./explained.ts";
import { Rows } from "./Rows.tsx";
import { bytesText, countText, instructionText, secondsText, typeText } from "./texts.ts";

/** An instruction, and how deep it is in the bodies of others. */
interface Shown {
  readonly instruction: Instruction;
  readonly depth: number;
}

function flat(instructions: readonly Instruction[], depth = 0): Shown[] {
  return instructions.flatMap((instruction) => [{ instruction, depth }, ...flat(instruction.body ?? [], depth + 1)]);
}

/** As "recorded 12 → differentiated 24 → optimised 17". */
export function stagesText(stages: Explained["stages"]): string {
  const counts = Object.entries(stages);
  const [last] = counts.slice(-1);
  const derived = ["recorded", "rolled", "differentiated", "batched"].flatMap((pass) => (stages[pass] === undefined ? [] : [[pass, stages[pass]] as const]));
  const shown = derived.filter(([, count], i) => i === 0 || count !== derived[i - 1]?.[1]);
  return [...shown, ["optimised", last?.[1] ?? 0] as const].map(([pass, count]) => `${pass} ${countText(count)}`).join(" → ");
}

export function Instructions({ shown }: { shown: Explained }) {
  const items = flat(shown.instructions);
  const slowest = Math.max(...shown.instructions.map(({ seconds = 0 }) => seconds));
  return (
    <section class="instructions" aria-label="Instructions">
      <h3>Instructions</h3>
      <div class="row">
        <span>{stagesText(shown.stages)}</span>
        <span>peak memory {bytesText(shown.peak_bytes)}</span>
        <span class="measured">
          <button type="button" onClick={measure}>
            Measure
          </button>{" "}
          {shown.seconds === undefined ? "" : `${secondsText(shown.seconds)} in all`}
        </span>
      </div>
      <div class="wide" role="region" aria-label="Instructions, as a table" tabIndex={0}>
        <table class="listing">
          <thead>
            <tr>
              <th scope="col" colSpan={2}>
                instruction
              </th>
              <th scope="col">type</th>
              <th scope="col" class="count">line</th>
              <th scope="col" class="count">flops</th>
              <th scope="col" class="count">memory</th>
              <th scope="col" class="count">time</th>
            </tr>
          </thead>
          <Rows
            items={items}
            columns={7}
            pointing={({ instruction }) => ({ place: instruction.place })}
            row={({ instruction, depth }) => ({
              class: instruction.derivative ? "derivative" : "",
              cells: <Cells instruction={instruction} depth={depth} slowest={slowest} />,
            })}
          />
        </table>
      </div>
      <p class="quiet legend">
        <span class="mark">∂</span> marks what differentiation added.
      </p>
    </section>
  );
}

function Cells({ instruction, depth, slowest }: Shown & { slowest: number }) {
  const { slot, place, flops, bytes, seconds, derivative, parameters } = instruction;
  return (
    <>
      <td class="code mark">{derivative && "∂"}</td>
      <td class="code" style={{ paddingLeft: `${1.25 * depth}rem` }} title={parameters}>
        <span class="quiet">%{slot} =</span> {instructionText(instruction)}
      </td>
      <td class="code quiet">{typeText(instruction)}</td>
      <td class="count">{place.line}</td>
      <td class="count">{flops === 0 ? "" : countText(flops)}</td>
      <td class="count">{bytesText(bytes)}</td>
      <td class="time">
        {seconds !== undefined && seconds > 0 && (
          <div>
            <span class="bar" aria-hidden="true">
              <span style={{ width: `${slowest === 0 ? 0 : (100 * seconds) / slowest}%` }} />
            </span>
            <span class="count">{secondsText(seconds)}</span>
          </div>
        )}
      </td>
    </>
  );
}

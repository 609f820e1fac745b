/** How much the target changes with each element of the sources: sorted bars. */

import { shortNumber } from "../answer/numbers.ts";
import { answer } from "../model/answer.ts";
import { barsOf } from "./bars.ts";
import { choose, chooseCoordinate, coordinates } from "./choice.ts";
import { namedLeaves } from "./elements.ts";

export function BarsPlot() {
  const given = answer.value;
  if (given === null || (given.query !== "gradient" && given.query !== "hessian")) return null;
  const { shown, others, missing } = barsOf(namedLeaves(given.request["sources"], given.gradients));
  const largest = Math.max(0, ...shown.map(({ size }) => size).filter(Number.isFinite));
  const known = new Set(coordinates.value.map(({ name }) => name));
  const plot = (name: string) => {
    chooseCoordinate(0, name);
    choose("curve");
  };
  return (
    <>
      <table class="bars" aria-label="Derivatives by size">
        <thead>
          <tr>
            <th scope="col">with respect to</th>
            <td />
            <th scope="col">derivative</th>
          </tr>
        </thead>
        <tbody>
          {shown.map(({ name, text, size, sign }) => (
            <tr key={name}>
              <th scope="row">
                {known.has(name) ? (
                  <button type="button" class="name" title={`Show the curve along ${name}`} onClick={() => plot(name)}>
                    {name}
                  </button>
                ) : (
                  <code>{name}</code>
                )}
              </th>
              <td aria-hidden="true">
                <div
                  class={`bar ${sign > 0 ? "rises" : sign < 0 ? "falls" : "unsigned"}`}
                  style={{ width: `${size === Infinity ? 100 : largest === 0 ? 0 : (100 * size) / largest}%` }}
                />
              </td>
              <td class="number">{text}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {shown.length === 0 && <p class="quiet">No source has a gradient.</p>}
      {others.count > 0 && (
        <p class="quiet">
          and {others.count.toLocaleString("en")} others, each at most {shortNumber(others.largest)}
        </p>
      )}
      {missing.length > 0 && <p class="quiet">No gradient: {missing.join(", ")}</p>}
      <p class="quiet plot-key">Sorted by size. Red: the target rises with it. Blue: the target falls.</p>
    </>
  );
}

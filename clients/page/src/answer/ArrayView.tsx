/** An array: a number, a short list, a table, or a picture of its elements. */

import type { Tensor } from "../service/tensor.ts";
import { HeatMap } from "./HeatMap.tsx";
import { arrayText, elementText, shortNumber, statistics, typeText } from "./numbers.ts";

const MOST_IN_LINE = 8;
const MOST_IN_TABLE = 64;

export function ArrayView({ tensor, label }: { tensor: Tensor; label: string }) {
  const { shape, data } = tensor;
  const size = data.length;
  return (
    <div class="array">
      {size === 1 && shape.length === 0 ? (
        <span class="number">{elementText(tensor, 0)}</span>
      ) : size <= MOST_IN_LINE && shape.length <= 1 ? (
        <span class="number">{arrayText(tensor)}</span>
      ) : shape.length === 2 && size <= MOST_IN_TABLE ? (
        <Table tensor={tensor} label={label} />
      ) : (
        <Summary tensor={tensor} />
      )}
      <span class="type">{typeText(tensor)}</span>
      {size > MOST_IN_LINE && tensor.imag === undefined && <HeatMap tensor={tensor} label={label} />}
    </div>
  );
}

function Table({ tensor, label }: { tensor: Tensor; label: string }) {
  const [rows = 0, columns = 0] = tensor.shape;
  return (
    <table class="matrix" aria-label={label}>
      <tbody>
        {Array.from({ length: rows }, (_, row) => (
          <tr key={row}>
            {Array.from({ length: columns }, (_, column) => (
              <td key={column}>{elementText(tensor, row * columns + column)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Summary({ tensor }: { tensor: Tensor }) {
  if (tensor.data.length === 0) return <span>no elements</span>;
  if (tensor.imag !== undefined) return <span>{tensor.data.length} complex numbers</span>;
  const { min, max, mean, nonfinite } = statistics(tensor.data);
  return (
    <span>
      from {shortNumber(min)} to {shortNumber(max)}, mean {shortNumber(mean)}
      {nonfinite > 0 && `, ${nonfinite} not finite`}
    </span>
  );
}

/** A variable of the JSON text: its numbers can be changed here, and the text follows. */

import { typeText } from "../answer/numbers.ts";
import { removeLeaf, setLeaf } from "../model/variables.ts";
import { isLeaf as isBytes } from "../service/tensor.ts";
import type { Json } from "../service/json.ts";
import { Grid } from "./Grid.tsx";
import { type Part, partsOf, shapeOf } from "./parts.ts";
import { Scalar } from "./Scalar.tsx";

/** Larger arrays are changed in the JSON text. */
const MOST_ELEMENTS = 64;

export function LeafRow({ path, leaf, canRemove }: { path: string; leaf: Json; canRemove: boolean }) {
  const parts = partsOf(leaf);
  return (
    <div class="variable" data-path={path}>
      <span class="name">{path}</span>
      <div class="control">
        {parts.length === 0 && <span class="quiet">{isBytes(leaf) ? "bytes" : "in the JSON text"}</span>}
        {parts.map((part) => (
          <PartControl key={part.label} part={part} label={part.label === "" ? path : `${path}.${part.label}`} path={path} />
        ))}
      </div>
      <span class="type">
        {isBytes(leaf) ? typeText(leaf) : parts[0] === undefined ? "" : typeText({ dtype: parts[0].dtype, shape: shapeOf(parts[0].value) ?? [] })}
        {canRemove && (
          <button type="button" aria-label={`Remove ${path}`} title="Remove" onClick={() => removeLeaf(path)}>
            ✕
          </button>
        )}
      </span>
    </div>
  );
}

function PartControl({ part, label, path }: { part: Part; label: string; path: string }) {
  const { value, dtype } = part;
  const shape = shapeOf(value);
  const change = (changed: Json) => setLeaf(path, part.put(changed));
  if (shape === null) return <span class="fault">its rows have different lengths</span>;
  if (shape.length === 0) return <Scalar value={value} dtype={dtype} label={label} onValue={change} />;
  const size = shape.reduce((product, length) => product * length, 1);
  if (size === 0 || size > MOST_ELEMENTS || shape.length > 2) return <span class="quiet">in the JSON text</span>;
  return <Grid value={value} shape={shape} dtype={dtype} label={label} onValue={change} />;
}

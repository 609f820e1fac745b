/** Values in the structure of the sources. */

import type { JsonObject, Tree } from "../service/json.ts";
import { isObject } from "../service/json.ts";
import { isTensor } from "../service/tensor.ts";
import type { Leaf } from "../model/answer.ts";
import { pointed, visited } from "../model/pointing.ts";
import type { Place } from "../service/client.ts";
import { ArrayView } from "./ArrayView.tsx";

/** Why a gradient is null, by the path of its source. */
export type Reasons = { readonly [path: string]: { readonly reason: string; readonly detail: string; readonly node?: Place } };

export function reasonsOf(document: JsonObject): Reasons {
  const { unconnected } = document;
  return isObject(unconnected) ? (unconnected as unknown as Reasons) : {};
}

/** `path` is of the values below in the variables; `label` names them for screen readers. */
export function TreeView({ tree, reasons, path = "", label }: { tree: Tree<Leaf>; reasons: Reasons; path?: string; label: string }) {
  if (isTensor(tree)) return <ArrayView tensor={tree} label={label} />;
  if (tree === null) return <Missing reasons={reasons} path={path} />;
  if (typeof tree === "string") return <span>{JSON.stringify(tree)}</span>;
  const parts = Object.entries(tree);
  if (parts.length === 0) return <span class="quiet">nothing</span>;
  return (
    <dl class="tree">
      {parts.map(([name, part]) => (
        <div key={name}>
          <dt>{Array.isArray(tree) ? `[${name}]` : name}</dt>
          <dd>
            <TreeView tree={part} reasons={reasons} path={path === "" ? name : `${path}.${name}`} label={`${label} ${name}`} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Missing({ reasons, path }: { reasons: Reasons; path: string }) {
  const found = reasons[path] ?? Object.entries(reasons).find(([name]) => name.endsWith(`.${path}`))?.[1];
  return (
    <span class="missing">
      <code>null</code> {found?.detail ?? "there is no gradient"} <PlaceLink place={found?.node} />
    </span>
  );
}

/** A place in the program: while the pointer is on it, its line is highlighted, and a click goes there. */
export function PlaceLink({ place }: { place: Place | undefined }) {
  const line = place?.line;
  if (line === undefined) return null;
  const show = () => (pointed.value = { line });
  const hide = () => (pointed.value = null);
  return (
    <button type="button" class="place" onClick={() => (visited.value = { line })} onMouseEnter={show} onMouseLeave={hide} onFocus={show} onBlur={hide}>
      line {line}
    </button>
  );
}

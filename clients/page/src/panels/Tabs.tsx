/** Tabs by the pattern of the ARIA Authoring Practices: arrows move, Home and End too. */

import { useSignal } from "@preact/signals";

import type { Panel } from "./panels.ts";

export function Tabs({ panels }: { panels: readonly Panel[] }) {
  const shown = useSignal(0);
  const move = (event: KeyboardEvent) => {
    const last = panels.length - 1;
    const to = { ArrowRight: shown.value + 1, ArrowLeft: shown.value - 1, Home: 0, End: last }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    shown.value = (to + panels.length) % panels.length;
    document.getElementById(`tab-${panels[shown.value]?.id}`)?.focus();
  };
  const panel = panels[shown.value];
  if (panel === undefined) return null;
  return (
    <>
      <div class="tabs" role="tablist" aria-label="Views of the answer" onKeyDown={move}>
        {panels.map(({ id, title }, i) => (
          <button
            key={id}
            id={`tab-${id}`}
            type="button"
            role="tab"
            aria-selected={i === shown.value}
            aria-controls="panel"
            tabIndex={i === shown.value ? 0 : -1}
            onClick={() => (shown.value = i)}
          >
            {title}
          </button>
        ))}
      </div>
      <div id="panel" role="tabpanel" aria-labelledby={`tab-${panel.id}`} tabIndex={0}>
        <panel.View />
      </div>
    </>
  );
}

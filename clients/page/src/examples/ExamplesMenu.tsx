/** The button that shows the examples, and the list from which one is opened. */

import { useRef } from "preact/hooks";

import { openExample } from "../model/location.ts";
import { EXAMPLES } from "./examples.ts";

export function ExamplesMenu() {
  const list = useRef<HTMLDivElement>(null);
  return (
    <>
      <button type="button" class="examples-button" popovertarget="examples">
        Examples
      </button>
      <div id="examples" popover="auto" ref={list} role="dialog" aria-label="Examples">
        <ul>
          {EXAMPLES.map((example, i) => (
            <li key={example.title}>
              <button
                type="button"
                aria-describedby={`example-${i}`}
                onClick={() => {
                  list.current?.hidePopover();
                  void openExample(example);
                }}
              >
                {example.title}
              </button>
              <p id={`example-${i}`} class="quiet">
                {example.about}
              </p>
            </li>
          ))}
        </ul>
      </div>
    </>
  );
}

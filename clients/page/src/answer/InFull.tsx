/** The numbers of an answer with all their digits, to be read and copied. */

import { useSignal } from "@preact/signals";

import type { Answer, Leaf } from "../model/answer.ts";
import type { Tree } from "../service/json.ts";
import { isTensor } from "../service/tensor.ts";
import { jsonText } from "../take/quoting.ts";
import { wholeTree } from "./numbers.ts";

const MOST_ELEMENTS = 20_000;

function sizeOf(tree: Tree<Leaf>): number {
  if (isTensor(tree)) return tree.data.length;
  return typeof tree === "object" && tree !== null ? Object.values(tree).reduce((sum, part) => sum + sizeOf(part), 0) : 0;
}

export function InFull({ answer }: { answer: Answer }) {
  const isOpen = useSignal(false);
  const { value, derivatives, query } = answer;
  const whole = () => (query === "evaluate" ? wholeTree(value) : { value: wholeTree(value), [query === "gradient" ? "gradients" : query]: wholeTree(derivatives) });
  const isLong = sizeOf([value, derivatives]) > MOST_ELEMENTS;
  return (
    <details class="in-full" onToggle={(event) => (isOpen.value = event.currentTarget.open)}>
      <summary>All digits, as JSON</summary>
      {isOpen.value &&
        (isLong ? (
          <p class="quiet">More than {MOST_ELEMENTS.toLocaleString("en")} numbers are not shown here: the view Code has the request for them.</p>
        ) : (
          <pre tabIndex={0} aria-label="The answer with all digits">
            <code>{jsonText(whole())}</code>
          </pre>
        ))}
    </details>
  );
}

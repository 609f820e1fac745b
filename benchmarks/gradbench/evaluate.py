"""An evaluation as a process, as GradBench's are: messages on standard output, replies on input.

``python -m gradbench.evaluate gmm`` sends the inputs of the default sizes, one after the other,
and says of each output whether it is valid. It stands in for GradBench's own evaluations, which
compare with a tool that they compile; here answers.py knows what is expected.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np

from gradbench.tools.gradwire.run import NAMES
from gradbench.workloads import workloads

#: The largest difference that counts as none, relative to numbers above 1.
TOLERANCE = 1e-4


def main() -> None:
    """Read the options and run one evaluation."""
    parser = argparse.ArgumentParser(description="Evaluate a tool.")
    parser.add_argument("evaluation", choices=NAMES)
    parser.add_argument("--min-runs", type=int, default=1, help="runs of each function")
    parser.add_argument("--min-seconds", type=float, default=1.0, help="time of all its runs")
    parser.add_argument("--most", type=int, help="only so many inputs, the smaller ones")
    parser.add_argument("--no-validation", action="store_true", help="do not check the outputs")
    options = parser.parse_args()
    runs = {"min_runs": options.min_runs, "min_seconds": options.min_seconds}
    evaluate(options.evaluation, runs, most=options.most, validate=not options.no_validation)


def evaluate(
    evaluation: str, runs: Mapping[str, float], *, most: int | None = None, validate: bool = True
) -> None:
    """Send every message of an evaluation; stop where the tool cannot define it."""
    numbers = iter(range(1 << 62))

    def ask(message: dict[str, Any]) -> dict[str, Any]:
        number = next(numbers)
        print(json.dumps({"id": number, **message}, default=_plain), flush=True)
        line = sys.stdin.readline()
        if not line:
            sys.exit("no more replies")
        reply: dict[str, Any] = json.loads(line)
        if reply["id"] != number:
            raise ValueError(f"the reply to message {number} has id {reply['id']}")
        return reply

    ask({"kind": "start", "eval": evaluation})
    if not ask({"kind": "define", "module": evaluation})["success"]:
        return
    for name, functions, given in islice(workloads(evaluation), most):
        for function in functions:
            sent = {**given, **runs} if isinstance(given, Mapping) else given
            message = {"kind": "evaluate", "module": evaluation, "function": function}
            reply = ask({**message, "description": name, "input": sent})
            if reply["success"] and validate:
                wrong = mismatches(_expected(evaluation, function, given), reply["output"])
                verdict = {"kind": "analysis", "of": reply["id"]}
                first = next(wrong, None)
                if first is None:
                    ask({**verdict, "valid": True})
                else:
                    ask({**verdict, "valid": False, "error": first})


def mismatches(expected: Any, found: Any, path: str = "output") -> Iterator[str]:
    """The places where ``found`` has another structure, or numbers beyond the tolerance."""
    if isinstance(expected, Mapping):
        if not isinstance(found, Mapping) or expected.keys() != found.keys():
            yield f"{path}: expected an object with the members {sorted(expected)}"
            return
        for name, value in expected.items():
            yield from mismatches(value, found[name], f"{path}.{name}")
        return
    numbers = np.asarray(expected, np.float64)
    try:
        others = np.asarray(found, np.float64)
    except (TypeError, ValueError):
        others = np.asarray(np.nan)
    if numbers.shape != others.shape:
        yield f"{path}: expected the shape {numbers.shape}, got {others.shape}"
        return
    differences = abs(numbers - others) / np.maximum(1, abs(numbers) + abs(others))
    for place in np.argwhere(~(differences <= TOLERANCE)):
        at = tuple(place)
        yield f"{path}{place.tolist() or ''}: expected {numbers[at]}, got {others[at]}"


def _expected(evaluation: str, function: str, given: Any) -> Any:
    from gradbench.answers import expected  # imports JAX, which only validation needs

    return expected(evaluation, function, given)


def _plain(value: Any) -> Any:
    """An array as lists."""
    return value.tolist()


if __name__ == "__main__":
    main()

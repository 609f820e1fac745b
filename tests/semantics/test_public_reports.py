"""Wrong gradients that users of other tools reported: here the answers are right.

The right ones are closed forms, limits, and differences by mpmath and SciPy, as each case says. A
number is expected to a tolerance; ``range``, ``any``, ``finite``, ``shape`` stand for what fits.
"""

import json
import math
from pathlib import Path
from typing import Any

import pytest

CASES = json.loads(Path(__file__).with_name("public_reports.json").read_text(encoding="utf-8"))
#: Those that are wrong still; none that is right may stay among them.
OPEN = Path(__file__).with_name("public_reports_open.txt").read_text(encoding="utf-8").split()
_NAMED = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def agrees(found: Any, expected: Any, rtol: float, atol: float) -> bool:
    """Whether an answer is what is expected."""
    if isinstance(expected, dict):
        if "any" in expected:
            return any(agrees(found, one, rtol, atol) for one in expected["any"])
        if "range" in expected:
            low, high = expected["range"]
            return all(low - atol <= x <= high + atol for x in numbers(found))
        if "finite" in expected:
            return all(map(math.isfinite, numbers(found)))
        if "shape" in expected:  # of what is empty, a list shows the first axes alone
            lengths = shape(found)
            return bool(lengths == expected["shape"][: len(lengths)])
        return isinstance(found, dict) and all(
            key in found and agrees(found[key], value, rtol, atol)
            for key, value in expected.items()
        )
    if isinstance(expected, list):
        return (
            isinstance(found, list)
            and len(found) == len(expected)
            and all(agrees(x, y, rtol, atol) for x, y in zip(found, expected, strict=True))
        )
    if isinstance(expected, str) and expected not in _NAMED:
        return bool(found == expected)
    x, y = number(found), number(expected)
    if math.isnan(y) or math.isinf(y) or math.isnan(x):
        return x == y or (math.isnan(x) and math.isnan(y))
    return abs(x - y) <= atol + rtol * abs(y)


def number(value: Any) -> float:
    return float(_NAMED.get(value, math.nan) if isinstance(value, str) else value)


def numbers(value: Any) -> list[float]:
    """All numbers of a nested list."""
    if isinstance(value, list):
        return [x for item in value for x in numbers(item)]
    return [number(value)]


def shape(value: Any) -> list[int]:
    if not isinstance(value, list):
        return []
    return [len(value), *(shape(value[0]) if value else [])]


async def fault(wire: Any, case: dict[str, Any]) -> str:
    """What is wrong with an answer; nothing if all of it is right."""
    response = await wire.http.post(case["endpoint"], json=case["body"])
    if response.status_code != 200:
        return str(response.text)
    answer = response.json()
    return "".join(
        f"{field}: {answer[field]} for {expected}"
        for field, expected in case["expected"].items()
        if not agrees(answer[field], expected, **case["tolerance"])
    )


@pytest.mark.parametrize(
    "case", [pytest.param(case, id=case["id"]) for case in CASES if case["id"] not in OPEN]
)
async def test_what_was_wrong_elsewhere_is_right(wire: Any, case: dict[str, Any]):
    assert not await fault(wire, case)


async def test_the_list_of_those_that_are_wrong_is_exact(wire: Any):
    found = {case["id"] for case in CASES if case["id"] in OPEN and await fault(wire, case)}
    assert sorted(found) == OPEN

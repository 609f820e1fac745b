"""NaN goes in, NaN comes out: of every function that has an example on the page of operations."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gradwire_engine.errors import EngineError

from tests.effort import some

PAGE = Path(__file__).parents[3] / "docs/reference/operations.md"
EXAMPLES = re.findall(r"^  `(.+?)` → ", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
NUMBER = re.compile(r"(?<![\w.])-?\d+\.\d+(e[+-]?\d+)?(?![\wj])")
#: These leave NaN out, choose, draw, or take it for a place outside, as elsewhere.
EXCEPTIONS = re.compile(
    r"nan\w+|torch\.nan\w+|fmax|fmin|filter|torch\.mode|torch\.renorm|torch\.linalg\.lu\b"
    r"|\S*dropout|map_coordinates|tf\.image\.crop_and_resize"
)


def with_a_variable(example: str) -> Iterator[tuple[str, float]]:
    """The example with ``x`` for the first number of each argument, and that number."""
    seen = set()
    for number in NUMBER.finditer(example):
        before = example[: number.start()]
        nesting = np.cumsum([(c in "([") - (c in ")]") for c in before])
        argument = sum(c == "," and depth == 1 for c, depth in zip(before, nesting, strict=True))
        if argument not in seen:
            seen.add(argument)
            yield f"{before}xx{example[number.end() :]}", float(number.group())


def floats(value: Any) -> list[Any]:
    """All arrays of floating dtype in an answer."""
    if isinstance(value, list | tuple | dict):
        items = value.values() if isinstance(value, dict) else value
        return [x for item in items for x in floats(item)]
    array = np.asarray(value)
    return [array] if array.dtype.kind in "fc" else []


CASES = [case for example in EXAMPLES for case in with_a_variable(example)]


@pytest.mark.parametrize(
    ("text", "x"), some([case for case in CASES if not EXCEPTIONS.match(case[0])])
)
def test_nan_comes_out_wherever_a_number_matters(ask, text, x):
    try:
        found, near, far = [
            floats(ask.value(text, {"xx": v})) for v in (x, x * 1.001 + 1e-3, np.nan)
        ]
    except EngineError:  # a number that must be known while recording, or be in a domain
        return
    same = [np.shape(z) for z in found] == [np.shape(z) for z in near]
    if same and all(np.array_equal(*pair) for pair in zip(found, near, strict=True)):
        return
    assert any(np.isnan(z).any() for z in far)

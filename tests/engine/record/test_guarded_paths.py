"""What is the same in all passes of a loop, and decides on some paths alone, is asked each time."""

from itertools import permutations
from textwrap import indent
from typing import Any

import numpy as np
import pytest
from gradwire_engine.errors import DomainError
from numpy.testing import assert_allclose

#: Loops some of whose passes reach what takes the place of BODY.
LOOPS = {
    "rows": "for a in x:\n    if a > 0.5:\nBODY8",
    "continue": "for i in range(4):\n    if i == 1:\n        continue\nBODY4",
    "a count that values decide": "for i in range(k + 2):\n    if i > 0:\nBODY8",
    "while": "i = 0\nwhile z < 20 and i < 8:\n    z = z * 2 + 1\n    i += 1\n    if z > 5:\nBODY8",
    "otherwise": "for i in range(3):\n    if i < 1:\n        z = z + 3\n    else:\nBODY8",
    "nested": "for i in range(3):\n    for a in x:\n        if a * i > 0.5:\nBODY12",
    "twice": "for a in x:\n    if a > 0:\n        if a * z < 30:\nBODY12",
    "outside": "if x[0] > 0:\nBODY4",
}
#: What is done there; it reads ``s``, ``k`` and ``w``, which no pass changes.
BODIES = [
    "if s > 0:\n    z = z + 1",
    "z = z + (1 if s > 0 else 2)",
    "z = z + sum(x[:k])",
    "if s > 0 and k > 1:\n    z = z + s",
    "if sum(w) > 0 or not k == 2:\n    z = z * 0.5",
    "for j in range(k):\n    z = z * 0.5 + 1",
    "if s > 0:\n    break",
    "u = -s\nif u > 0:\n    z = z - u",
    "y = sum(w * s)\nwhile y > 0:\n    y = y - 1\n    z = z + 0.25",
]
X = np.array([0.2, 0.9, 1.5, -0.4])
#: Values of ``s`` and ``k``.
DECIDING = [(1.0, 1), (-1.0, 3), (1.0, 2)]


def values(s: float, k: int) -> dict[str, Any]:
    return {"x": X, "w": np.array([0.3, 0.4]), "s": np.array(s), "k": np.array(k)}


def in_python(text: str, given: dict[str, Any]) -> Any:
    """What Python and NumPy make of the text."""
    space = given | {"sum": np.sum, "k": int(given["k"])}
    exec(text, space)
    return space["z"]


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("loop", LOOPS)
def test_another_value_takes_another_path(ask_within, loop, body):
    if "break" in body and loop == "outside":
        return
    depth = LOOPS[loop].rstrip().rpartition("BODY")[2]
    text = "z = 1.0\n" + LOOPS[loop].replace(f"BODY{depth}", indent(body, " " * int(depth)))
    for order in permutations(DECIDING):
        ask = ask_within()
        for s, k in order:
            given = values(s, k)
            found = ask.answer(text, given, target="z", sources="s")
            assert_allclose(found.value, in_python(text, given), err_msg=f"{text}\n{order}")
            beside = [in_python(text, values(s + h, k)) for h in (1e-6, -1e-6)]
            slope = (beside[0] - beside[1]) / 2e-6
            assert_allclose(found.gradients or 0.0, slope, atol=1e-6, err_msg=text)


#: Rows of which one is more than 0.5 or none is, and matrices of which one has no inverse.
ROWS, MATRICES = (X, X - 2), (np.eye(2), -np.eye(2), np.zeros((2, 2)))
INVERSES = [
    "m = inv(a)\n        if m[0, 0] > 0:\n            z = z + x[i]",
    "z = z + inv(a)[0, 0]",
]


@pytest.mark.parametrize("body", INVERSES)
@pytest.mark.parametrize("bound", ["len(x)", "k"])
def test_what_fails_fails_on_its_own_path_alone(ask_within, body, bound):
    text = f"z = 1.0\nfor i in range({bound}):\n    if x[i] > 0.5:\n        {body}"
    space: dict[str, Any] = {"inv": np.linalg.inv, "k": 4}
    for order in permutations([(x, a) for x in ROWS for a in MATRICES], 3):
        ask = ask_within()
        for x, a in order:
            given = {"x": x, "a": a, "k": np.array(4)}
            try:
                exec(text, made := space | {"x": x, "a": a})
            except np.linalg.LinAlgError:
                with pytest.raises(DomainError, match="inv"):
                    ask.answer(text, given, target="z", sources="x")
            else:
                assert_allclose(ask.answer(text, given, target="z", sources="x").value, made["z"])

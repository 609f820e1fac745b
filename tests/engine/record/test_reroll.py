"""Steps that were recorded one after the other as a loop: it gives what the steps give."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests import effort
from tests.engine.rolled import VALUES, agree, answer, same, tapes

GRU = """
def cell(h, x):
  z = sigmoid(m[:5] @ h + x * a)
  r = sigmoid(m[5:10] @ h - x)
  c = tanh(m[:5] @ (r * h) + x)
  return (1 - z) * h + z * c

h = m[11]
"""


def steps(line: str, count: int = 40) -> str:
    """A line for each step, its number in the place of ``#``."""
    return "\n".join(line.replace("#", str(i)) for i in range(count))


RATES = [0.1, 0.2, 0.3, 0.4, 0.5, 0.45, 0.35, 0.25, 0.15, 0.05]
WRITTEN = {
    "a recurrent network": GRU + steps("h = cell(h, x[#])", 25) + "\nsum(h * h)",
    "all states": GRU
    + "hs = []\nfor i in range(25):\n  h = cell(h, x[i])\n  hs = hs + [h]\n"
    + "sum(stack(hs)**2 * m[0])",
    "one state on the way": GRU + steps("h = h# = cell(h, x[#])", 25) + "\nsum(h * h7 + h24)",
    "two states back": "u = a\nw = x[0]\n"
    + steps("n# = sin(u) * 0.5 + w * x[#] - tanh(u * w)\nu = w\nw = n#")
    + "\nu * w",
    "constants of their own": "u = a\n"
    + "\n".join(f"u = sin(u * {r}) + {2 * r} * u - tanh(u) / {r + 1}" for r in 4 * RATES)
    + "\nu",
    "elements in any order": "u = a\n"
    + "\n".join(f"u = u + sin(u * x[{i * i % 37}]) / (1 + x[{i}]**2)" for i in range(40))
    + "\nu * u",
    "an element of the state": "h = m[0]\n"
    + "\n".join(f"h = tanh(h * h[{i % 5}] + m[{i % 12}] * x[{i}])" for i in range(40))
    + "\nsum(h)",
    "operands from before": "\n".join(
        f"p{i} = exp(x[{i}]) if {i} % 2 else sin(x[{i}])" for i in range(40)
    )
    + "\nu = a\n"
    + steps("u = tanh(u * p# + a) + p# ** 2 * u - sin(p#)")
    + "\nu",
    "two loops": "u = a\n"
    + steps("u = sin(u) * x[#] + tanh(u * u) - a * u")
    + "\nw = u\n"
    + steps("w = cos(w) + x[#] * w / (1 + w * w) - u")
    + "\nw * u",
    "a step that differs": "u = a\n"
    + steps("u = sin(u) * x[#] + tanh(u * u) - a * u", 30)
    + "\nu = exp(-u)\n"
    + steps("u = sin(u) * x[#] + tanh(u * u) - a * u", 30)
    + "\nu",
    "what nothing reads": "u = a\nw = a\n"
    + steps("w = w + 1 / (u - u)\nu = sin(u) * x[#] + tanh(u * u) - a * u")
    + "\nu",
    "a rotation": "u = a\nw = x[0]\n"
    + steps("u, w = u * 0.8 - w * 0.6 + x[#], u * 0.6 + w * 0.8 - a * sin(u)")
    + "\nu * w",
    "a decision": "u = a\n"
    + steps("u = (u * x[#] if u < 1 else tanh(u) - x[#]) + sin(u) * 0.3")
    + "\nu",
    "stopped gradients": "u = a\n"
    + steps("u = sin(u) * x[#] + stop_gradient(tanh(u * u)) - a * u")
    + "\nu",
    "matrices": "h = m[:5]\n" + steps("h = tanh(h @ m[5:10]) * x[#] - h.T * a", 40) + "\nsum(h)",
}


@pytest.mark.parametrize("text", WRITTEN.values(), ids=WRITTEN)
def test_steps_give_what_they_give_one_by_one(text: str):
    agree(text)


@pytest.mark.parametrize("name", ["a recurrent network", "two states back", "matrices"])
def test_the_tape_does_not_grow_with_the_number_of_steps(name: str):
    seen = tapes(WRITTEN[name])
    assert len(seen["recorded"].instructions) > 250
    assert len(seen["compacted"].instructions) < 200
    assert any(i.op.name == "loop" for i in seen["rolled"].instructions)


def test_the_value_is_that_of_numpy():
    u = VALUES["a"]
    for i in range(40):
        u = np.sin(u) * VALUES["x"][i] + np.tanh(u * u) - VALUES["a"] * u
    text = "u = a\n" + steps("u = sin(u) * x[#] + tanh(u * u) - a * u") + "\nu"
    assert answer(text).value == pytest.approx(u, rel=1e-13)


def test_states_on_the_way_may_be_sources():
    text = "u = a\n" + steps("u# = u = sin(u) * x[#] + tanh(u * u) - a * u") + "\nu"
    for sources in (["u0", "u39"], ["u20", "x"]):
        found, expected = (answer(text, sources=sources, exact=exact) for exact in (False, True))
        same(found.gradients, expected.gradients)


def test_what_only_the_last_step_does_not_read_is_no_infinity_times_zero():
    """The last root is of zero, and nothing reads it: its derivative is infinite."""
    rates = [0.1 + i % 7 for i in range(60)]
    lines = [f"b = b + {rate} * a * c\nc = sqrt(d)\nd = d - 1.0" for rate in rates]
    text = "\n".join(["c = 0.0 * a", "b = a", "d = x[0] * 0.0 + 59.0", *lines, "b"])
    found, expected = answer(text), answer(text, exact=True)
    same(found.gradients, expected.gradients)
    assert np.isfinite(found.gradients["x"]).all()
    assert any(i.op.name == "loop" for i in tapes(text)["rolled"].instructions)


def test_the_step_that_is_not_finite_is_named():
    lines = ["u = a", *[f"u = sqrt(x[{i}]) * 0.5 + sin(u) * tanh(u)" for i in range(40)], "u"]
    values = VALUES | {"x": np.where(np.arange(40) == 30, -1.0, VALUES["x"])}
    nonfinite = answer("\n".join(lines), values).nonfinite["forward"]
    assert nonfinite.node.line == 32


TERMS = ["sin({u}) * x[{i}]", "tanh({w} * a)", "{u} * {w} / (1 + {u}**2)", "x[{j}] - {w} * {c}"]


@pytest.mark.parametrize("seed", range(20))
def test_random_recurrences(seed: int):
    """Some with a step that is written differently."""
    draw = random.Random(f"{effort.seed} {seed}")
    form = [
        (name, " + ".join(draw.sample(TERMS, draw.choice([1, 2, 3]))), draw.randrange(4))
        for name in ("u", "w", "v")[: draw.choice([2, 3])]
    ]
    count = draw.choice([20, 31, 40])
    odd = draw.choice([-1, draw.randrange(count)])
    lines = ["u = a", "w = x[3]", "v = a * 0.5"]
    for i in range(count):
        for name, terms, other in form:
            j = draw.randrange(40) if other == 0 else (i + other) % 40
            c = draw.choice([0.3, 0.7]) if other == 1 else 0.4
            values = {"u": draw.choice("uw") if i == odd else "u", "w": "w", "i": i, "j": j, "c": c}
            lines.append(f"{name} = ({terms.format(**values)}) * 0.5")
    agree("\n".join([*lines, draw.choice(["u + w", "u * v", "w"])]))

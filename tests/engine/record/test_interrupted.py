"""Recordings that a poll ends are not kept: what is asked next is answered as if nothing was."""

import numpy as np
import pytest
from gradwire_engine import Engine, Leaf, Query
from gradwire_engine.errors import DeadlineExceeded
from numpy.testing import assert_allclose

#: Programs whose recordings ask for values, with variables where these are singular.
PROGRAMS = {
    "singular values": ("u, s, vh = svd(x)\nsum(((u*s) @ vh)[0])", np.eye(2)),
    "a norm": ("norm(x)**2 + cos(norm(x - x))", np.zeros(3)),
    "a loop": ("s = 0.0\nfor v in x:\n  if v > 0:\n    s = s + sqrt(v)\ns", np.arange(4.0)),
    "a while": ("s = sum(x)\nwhile s < 30:\n  s = s*1.5 + x[0]\ns", np.ones(3)),
    "eigenvalues": ("w, v = eigh(x)\nsum((v*exp(w)) @ v.T)", np.eye(3)),
}


class Once:
    """A poll that raises at one of its calls alone."""

    def __init__(self, number: int) -> None:
        self.left = number

    def __call__(self) -> None:
        self.left -= 1
        if not self.left:
            raise DeadlineExceeded("too long for the event loop")


@pytest.mark.thorough
@pytest.mark.parametrize("name", PROGRAMS)
def test_whatever_call_of_the_poll_raises_the_answer_is_the_same(name):
    text, x = PROGRAMS[name]
    for kind in ("gradient", "hvp") if name == "a norm" else ("gradient",):
        vectors = [np.ones_like(x)] if kind == "hvp" else None

        def ask(engine, poll, kind=kind, vectors=vectors):
            call = engine.call(engine.parse(text), {"x": Leaf(x)}, Query(kind=kind), vectors)
            found = call.replay(poll)
            return [
                found.value,
                *found.derivatives[f"{kind}s" if kind == "gradient" else kind].values(),
            ]

        expected = ask(Engine(), lambda: None)
        for number in range(1, 400):
            engine, poll = Engine(), Once(number)
            try:
                found = ask(engine, poll)
            except DeadlineExceeded:
                found = ask(engine, lambda: None)
            for one, other in zip(found, expected, strict=True):
                assert_allclose(one, other, rtol=1e-12)
            if poll.left > 0:
                break
        else:
            raise AssertionError("the poll is called more often than is tried")

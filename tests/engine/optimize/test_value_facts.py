"""Facts known of matrices, that they are diagonal or triangular, change no answer."""

import numpy as np
import pytest
from gradwire_engine import Engine, Leaf
from gradwire_engine.errors import DomainError
from numpy.testing import assert_allclose

from tests.engine.conftest import called

RNG = np.random.default_rng(12)
N = 24
VALUES = {
    "w": 1 + RNG.random(N),
    "y": RNG.normal(size=N),
    "m": RNG.normal(size=(N, N)),
    "a": RNG.normal(size=(N, N)) / 20 + np.eye(N) * 3,
}
#: Programs, and what is no longer computed of them, with what is instead.
TEXTS = {
    "sum((diag(w) @ m)**3)": ("on_diagonal", None),
    "sum((m @ diag(w))**3)": ("on_diagonal", None),
    "sum((diag(w) @ y)**3)": ("on_diagonal", None),
    "sum((m @ diag(w) @ m.T)**3)": ("on_diagonal", "contract"),
    "sum(solve(diag(w), y)**3)": (None, "solution"),
    "sum(solve(diag(w), m)**3)": (None, "solution"),
    "sum(solve(tril(a), y)**3)": (None, "solution"),
    "sum(solve(tril(a, -1) + eye(len(a)), y)**3)": (None, "solution"),
    "sum(solve(triu(a), m)**3)": (None, "solution"),
    "sum(solve(tril(a).T, m)**3)": (None, "solution"),
    "sum(solve(tril(a, 1), m)**3)": (None, "solution"),
    "sum(solve(stack([tril(a), a]), stack([m, m]))**3)": (None, "solution"),
    "sum(sin(tril(ones((len(y), len(y)))) @ y))": ("tril", "contract"),
    "n = len(y)\ny @ (2 * eye(n) - eye(n, k=1) - eye(n, k=-1)) @ sin(y)": ("on_diagonal", None),
}


def asked(text, kind="gradient", values=VALUES, **query):
    engine = Engine()
    leaves = {name: Leaf(x) for name, x in values.items() if f"{name}" in text}
    call = called(engine, text, leaves, kind, sources=[*leaves][:1], **query)
    answers = [call.replay(lambda: None) for _ in range(3)]
    return answers[-1], [i.op.name for i in call.entry.paths[0].executable.replayed.instructions]


@pytest.mark.parametrize("text", TEXTS)
def test_answers_are_those_of_the_whole_matrices(text):
    (found, names), (exact, _) = asked(text), asked(text, exact=True)
    assert_allclose(found.value, exact.value, rtol=1e-12)
    scale = np.abs(exact.gradients[0]).max()
    assert_allclose(found.gradients[0], exact.gradients[0], atol=1e-12 * scale)
    gone, instead = TEXTS[text]
    assert gone not in names
    assert instead is None or instead in names


@pytest.mark.parametrize("text", [text for text in TEXTS if "w" in text])
def test_second_derivatives(text):
    (found, _), (exact, _) = (asked(text, "hessian", exact=exact) for exact in (False, True))
    one, other = (answer.derivatives["hessian"][0][0] for answer in (found, exact))
    assert_allclose(one, other, atol=1e-11 * np.abs(other).max())


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize(
    "text", ["1 / (1 + sum(solve(diag(w), y)**2))", "1 / (1 + sum(solve(tril(a), y)**2))"]
)
def test_singular_matrices_are_refused(text, exact):
    singular = {name: x.copy() for name, x in VALUES.items()}
    singular["w"][3] = singular["a"][3, 3] = 0
    with pytest.raises(DomainError, match="not invertible"):
        asked(text, values=singular, exact=exact)

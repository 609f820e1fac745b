"""Derivatives that have only a complex value's real part come with a warning and its place."""

from typing import Any

import numpy as np
import pytest

#: Programs with a coefficient that their derivatives have, but not those of real parts.
OF_REAL = "y = complex(x**3, {} * x**3)\n"
OF_COMPLEX = "y = sum(real(z)**3 + {} * imag(z)**3)\n"
X, Z = np.array([0.3, 0.7]), np.array([0.3 + 0.4j, 0.7 - 0.2j])
#: A program, what it gives (the derivative of its target, if nothing), and the query.
ASKED: list[tuple[str, str, dict[str, Any]]] = [
    *[(OF_REAL, "", {"kind": kind}) for kind in ("gradient", "jacobian", "hessian", "check")],
    *[(OF_REAL, "", {"kind": "jacobian", "mode": mode}) for mode in ("forward", "reverse")],
    (OF_REAL, "", {"kind": "jacobian", "format": "coo"}),
    (OF_REAL, "", {"kind": "jacobian", "batch": {"x": 0}}),
    (OF_REAL, "", {"kind": "gradient", "seeds": [np.array([1j, 2])]}),
    (OF_REAL, "", {"kind": "jvp", "seeds": [X]}),
    (OF_REAL, "", {"kind": "jacobian", "target": "imag(y)"}),
    *[
        (OF_REAL, form, {"kind": "evaluate"})
        for form in (
            "grad(y, x)", "value_and_grad(y, x)[1]", "jacobian(y, x)", "hessian(y, x)",
            "sparse.jacobian(y, x)", "jacobian(imag(y), x)", "jvp(y, x, x)", "vjp(y, x, 1j*x)",
            f"grad(lambda x: {OF_REAL[4:-1]})(x)", f"jacobian(lambda x: {OF_REAL[4:-1]})(x)",
        )
    ],
    (OF_COMPLEX, "", {"kind": "gradient"}),
    (OF_COMPLEX, "", {"kind": "hessian"}),
    (OF_COMPLEX, "", {"kind": "hessian", "format": "coo"}),
    (OF_COMPLEX, "", {"kind": "hvp", "seeds": [Z * 1j]}),
    *[
        (OF_COMPLEX, form, {"kind": "evaluate"})
        for form in (
            "grad(y, z)", "hessian(y, z)", "sparse.hessian(y, z)", "hvp(y, z, 1j*z)",
            f"hessian(lambda z: {OF_COMPLEX[4:-1]})(z)",
        )
    ],
]  # fmt: skip


def numbers(nested: Any) -> list[Any]:
    if isinstance(nested, dict):
        return [x for value in nested.values() for x in numbers(value)]
    return [np.asarray(nested)]


@pytest.mark.parametrize(("text", "form", "query"), ASKED)
def test_what_lacks_a_part_of_the_derivative_warns(ask, text, form, query):
    """A derivative lacks a part if a coefficient in that part makes no difference to it."""
    query = dict(query)
    variables = {"x": X} if "x" in text.replace("complex", "") else {"z": Z}
    if query.pop("target", None):
        text, query["target"] = text + "of_imag = imag(y)\n", "of_imag"
    found = []
    for coefficient in (2, 5):
        answer = ask.answer(text.format(coefficient) + form.format(coefficient), variables, **query)
        derivatives = answer.derivatives
        found.append(numbers(answer.value if form else derivatives.get("hessian", derivatives)))
        notices = [notice for notice in answer.warnings if notice.code == "real_part"]
    lacks = all(np.array_equal(*pair) for pair in zip(*found, strict=True))
    assert len(notices) == lacks
    assert all(notice.node.line == (2 if "lambda" in form else 1) for notice in notices)


def test_a_complex_value_in_a_complex_one_gives_no_warning(ask):
    for kind in ("gradient", "jacobian", "hessian"):
        assert not ask.answer("z**3", {"z": 0.3 + 0.4j}, kind=kind).warnings


def test_the_warning_names_the_real_sources(ask):
    answer = ask.answer("x * z * w", {"x": 0.3, "z": 0.3 + 0.4j, "w": 1.0}, kind="jacobian")
    named = [notice.detail.split(" real,")[0] for notice in answer.warnings]
    assert named == ["the value is complex and x", "the value is complex and w"]

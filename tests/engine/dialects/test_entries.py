"""Every entry hands its parameters to the operation that it is a name of."""

import inspect

import numpy as np
import pytest
from gradwire_engine.dialects import DIALECTS
from numpy.testing import assert_array_equal

ELEMENTWISE = "arithmetic trigonometric exponential special gamma bessel normal activations pairs"
VARIABLES = {"x": np.array([0.25, 0.5, 0.75]), "y": np.array([1.5, 2.0, 3.0])}
ENTRIES = [
    (name, dialect.meant[function.name], function)
    for dialect in DIALECTS
    for name, function in dialect.functions.items()
    if dialect.meant[function.name] not in ("", "polygamma", "multigammaln")
    and function.family in ELEMENTWISE.split()
]


def needed(function):
    parameters = [*inspect.signature(function.record).parameters.values()][1:]
    return [p for p in parameters if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD]


@pytest.mark.parametrize(("name", "operation", "function"), ENTRIES, ids=[e[0] for e in ENTRIES])
def test_elementwise_functions_are_the_plain_ones(ask, name, operation, function):
    count = len(needed(function))
    arguments = "x, y, x"[: 3 * count - 2]
    if operation == "leaky_relu":
        operation, arguments = "abs", "x"  # of what is positive
    found = ask.value(f"{name}({arguments})", VARIABLES)
    assert_array_equal(found, ask.value(f"{operation}({arguments})", VARIABLES))


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_every_name_has_documentation_and_a_signature(dialect):
    for name, function in dialect.functions.items():
        assert function.doc, name
        assert name.startswith(dialect.name + ".")
        assert next(iter(inspect.signature(function.record).parameters)) == "builder"

"""Every function's samples with an argument that is wrong: a typed error, or an answer.

Each argument in turn becomes what it may not be: another rank, dtype or length, a number out of
range, a string, nothing.  Some are right all the same.  What recording accepts has to run and to
give results of the predicted types; there only what is known of the values can fail: an index, a
matrix.
"""

from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
from gradwire_engine.answer import Limits
from gradwire_engine.check import Call, interpret
from gradwire_engine.check.recordings import check_results
from gradwire_engine.errors import EngineError
from gradwire_engine.ops.builder import Builder
from gradwire_engine.tape import ArrayType

from tests.engine.conftest import named
from tests.engine.ops.sampled import FAMILIES, some_of_each

#: What stands in for an argument that is no array.
STATICS = [99, -99, 0, 1.5, True, None, "nonsense", [], [7, 7], {"a": 1}, 1j, 10**9, 10**30]
#: What stands in for an array, by name of what is wrong.
ARRAYS = {
    "a scalar": lambda x: x.reshape(-1)[:1].reshape(()) if x.size else np.zeros((), x.dtype),
    "a vector": lambda x: x.reshape(-1),
    "two more axes": lambda x: x[None, None],
    "one shorter": lambda x: x[..., 1:] if x.ndim else x,
    "one longer": lambda x: np.concatenate([x, x[..., :1]], -1) if x.ndim else x,
    "empty": lambda x: np.zeros((0, 2), x.dtype),
    "bool": lambda x: x.astype("bool"),
    "uint8": lambda x: np.abs(x.real * 3).astype("uint8"),
    "float16": lambda x: x.real.astype("float16"),
    "complex64": lambda x: x.astype("complex64"),
}
#: What an executed kernel may raise because of the values; the engine makes problems of these.
BY_VALUE = (IndexError, np.linalg.LinAlgError)


def replaced(arguments, key, value):
    """The positional or named arguments with one replaced."""
    if isinstance(arguments, dict):
        return arguments | {key: value}
    return (*arguments[:key], value, *arguments[key + 1 :])


def wrong(call):
    """The call with each argument in turn replaced."""
    for field in ("args", "kwargs"):
        given = getattr(call, field)
        for key in given if isinstance(given, dict) else range(len(given)):
            if isinstance(given[key], np.ndarray):
                others = [function(given[key]) for function in ARRAYS.values()]
            else:
                others = STATICS
            for other in [*others, "nonsense", None]:
                yield replace(call, **{field: replaced(given, key, other)})


def run(call):
    """Record and run; every result must have the type that was predicted for it."""
    values = call.values
    b = Builder(Limits(array_bytes=10**6, instructions=10**4))
    outputs = call.record(b, *[b.input(ArrayType(v.dtype, v.shape)) for v in values])
    results = interpret(b.tape([x for x in [outputs] if not isinstance(x, list | tuple)]), values)
    assert [*check_results(b, results, 0)] == []


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("family", FAMILIES)
def test_a_wrong_argument_is_a_typed_error_or_has_a_result_of_the_predicted_type(family):
    for call in some_of_each(FAMILIES[family]):
        if type(call) is not Call:  # it makes what it records from its arguments
            continue
        for other in wrong(call):
            with named(other), suppress(EngineError, *BY_VALUE):
                run(other)

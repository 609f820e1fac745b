"""Kernels that keep to the array API standard compute with any library that implements it.

``array_api_strict`` has the standard's functions and nothing else. Which kernels use more is found
by running them, and printed (``pytest -rP``).
"""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from gradwire_engine.ops.base import PRIMITIVES, Op

from tests.engine.ops.kernel_calls import calls_of, few_of_each
from tests.engine.ops.sampled import FUNCTIONS_SAMPLED
from tests.gpu.registry import ROUNDINGS, differences

strict = pytest.importorskip("array_api_strict")

#: NumPy's names of the standard's functions.
RENAMED = {
    "absolute": "abs",
    "concatenate": "concat",
    "conjugate": "conj",
    "invert": "bitwise_invert",
    "left_shift": "bitwise_left_shift",
    "power": "pow",
    "right_shift": "bitwise_right_shift",
    **{f"arc{name}": f"a{name}" for name in ("sin", "cos", "tan", "tan2", "sinh", "cosh", "tanh")},
}
#: How the standard, or the library, says that something is not in it.
REFUSALS = (AttributeError, TypeError, ValueError, IndexError, RuntimeError, UserWarning)


def namespace() -> Any:
    """The standard's functions, by NumPy's names."""
    names = {name: getattr(strict, name) for name in dir(strict) if not name.startswith("_")}
    renamed = {name: names[standard] for name, standard in RENAMED.items()}
    return SimpleNamespace(**names, **renamed, special=SimpleNamespace())


def moved(x: Any) -> Any:
    return [moved(i) for i in x] if isinstance(x, list | tuple) else strict.asarray(np.asarray(x))


@pytest.mark.thorough
def test_kernels_within_the_standard_give_the_same_numbers():
    xp, within = namespace(), set()
    beyond: dict[str, str] = {}
    for call in few_of_each(calls_of(calls[0] for calls in FUNCTIONS_SAMPLED.values()), 1):
        name = call.op.name
        try:
            with np.errstate(all="ignore"):
                found = call.op.kernel(xp, *map(moved, call.operands))
        except REFUSALS as error:
            beyond[name] = f"{type(error).__name__}: {error}"
            continue
        within.add(name)
        parts = [np.asarray(x) for x in (found if isinstance(found, list | tuple) else [found])]
        assert differences(call, parts) < ROUNDINGS, call
    for name in sorted(beyond):
        print(f"{name}: {beyond[name]}")
    whole = {n for n, op in PRIMITIVES.items() if op.kernel is Op.kernel and hasattr(xp, op.ufunc)}
    assert len(whole) > 40
    # Where the standard's function is the kernel, nothing but its dtypes stands against it.
    refused = [beyond[name] for name in whole - within]
    assert [why for why in refused if "dtypes are allowed" not in why] == []

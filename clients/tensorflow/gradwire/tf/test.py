"""``tf.test``: derivatives checked by differences."""

from __future__ import annotations

import unittest
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradwire.tf import nest, static
from gradwire.tf.conversion import convert_to_tensor, tensor_of
from gradwire.tf.tapes import GradientTape
from gradwire.tf.tensors import Tensor


def compute_gradient(
    f: Callable[..., Any], x: Sequence[Any], delta: float | None = None
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Jacobians of ``f`` in each argument, by its derivative and by differences, as matrices."""
    if not isinstance(x, (list, tuple)):
        raise ValueError(f"`x` must be the arguments of `f` in a list or tuple, got {type(x)}")
    points = [convert_to_tensor(each) for each in x]
    exact, differences = [], []
    for place, point in enumerate(points):
        exact.append(_by_derivative(f, points, place))
        step = delta if delta is not None else 1.0 / 1024
        differences.append(_by_differences(f, points, place, point, step))
    return tuple(exact), tuple(differences)


def _by_derivative(f: Callable[..., Any], points: Sequence[Tensor], place: int) -> Any:
    with GradientTape() as tape:
        tape.watch(points[place])
        value = convert_to_tensor(f(*points))
    found = tape.jacobian(value, points[place])
    columns = int(np.prod(points[place]._lengths(), dtype=np.int64))
    if found is None:
        rows = int(np.prod(value._lengths(), dtype=np.int64))
        return np.zeros((rows, columns), points[place].dtype.storage)
    return static.array(found).reshape(-1, columns)


def _by_differences(
    f: Callable[..., Any], points: Sequence[Tensor], place: int, point: Tensor, step: float
) -> Any:
    array = point._value()
    columns = []
    for index in np.ndindex(array.shape):
        sides = []
        for sign in (1, -1):
            moved = array.copy()
            moved[index] += sign * step
            given = [*points[:place], tensor_of(moved, point.dtype), *points[place + 1 :]]
            sides.append(static.array(f(*given)).reshape(-1))
        columns.append((sides[0] - sides[1]) / array.dtype.type(2 * step))
    return np.stack(columns, axis=1) if columns else np.zeros((0, 0), array.dtype)


def is_gpu_available(cuda_only: bool = False, min_cuda_compute_capability: Any = None) -> bool:
    """No: where it is computed is the service's matter."""
    return False


def is_built_with_cuda() -> bool:
    """No."""
    return False


def is_built_with_gpu_support() -> bool:
    """No."""
    return False


def is_built_with_rocm() -> bool:
    """No."""
    return False


def gpu_device_name() -> str:
    """The name of the first graphics processor: none."""
    return ""


class TestCase(unittest.TestCase):
    """A test with TensorFlow's assertions."""

    def evaluate(self, tensors: Any) -> Any:
        """The values of tensors, nested or not."""
        return nest.map_structure(lambda each: static.array(each)[()], tensors)

    def assertAllClose(  # noqa: N802 - TensorFlow's name
        self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: str | None = None
    ) -> None:
        """Fail unless all elements are nearly equal."""
        np.testing.assert_allclose(
            static.array(a), static.array(b), rtol=rtol, atol=atol, err_msg=msg or ""
        )

    def assertAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:  # noqa: N802
        """Fail unless all elements are equal."""
        np.testing.assert_array_equal(static.array(a), static.array(b), err_msg=msg or "")


def main() -> None:
    """Run the tests of the module that is executed."""
    unittest.main()

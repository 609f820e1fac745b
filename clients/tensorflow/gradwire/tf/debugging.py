"""``tf.debugging``: what must hold of tensors, checked at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from gradwire.tf.conversion import convert_to_tensor
from gradwire.tf.dtypes import as_dtype, finfo
from gradwire.tf.errors import invalid
from gradwire.tf.operators import identity
from gradwire.tf.steps import again
from gradwire.tf.tensors import Operand, Tensor
from gradwire.tf.variants import variant


@again(effect=False)
def Assert(  # noqa: N802 - TensorFlow's name
    condition: Any, data: Sequence[Any], summarize: int | None = None, name: str | None = None
) -> None:
    """Raise ``InvalidArgumentError`` with data unless a condition is true."""
    held = convert_to_tensor(condition)
    if not held._value().all():
        shown = "\n".join(
            str(each.encode() if isinstance(each, str) else _shown(each)) for each in data
        )
        raise invalid(f"the condition {held} does not hold: {shown}")


def _two(
    x: Any, y: Any, message: Any = None, summarize: int | None = None, name: str | None = None
) -> Callable[..., None]:
    return lambda sign, holds: _compare(x, y, message, sign, holds)


@variant(_two, "==", np.equal)
def assert_equal() -> None:
    """Raise unless ``x == y`` everywhere."""


def assert_none_equal(
    x: Any, y: Any, summarize: int | None = None, message: Any = None, name: str | None = None
) -> None:
    """Raise unless ``x != y`` everywhere."""
    _compare(x, y, message, "!=", np.not_equal)


@variant(_two, "<", np.less)
def assert_less() -> None:
    """Raise unless ``x < y`` everywhere."""


@variant(_two, "<=", np.less_equal)
def assert_less_equal() -> None:
    """Raise unless ``x <= y`` everywhere."""


@variant(_two, ">", np.greater)
def assert_greater() -> None:
    """Raise unless ``x > y`` everywhere."""


@variant(_two, ">=", np.greater_equal)
def assert_greater_equal() -> None:
    """Raise unless ``x >= y`` everywhere."""


@again(effect=False)
def assert_near(
    x: Any,
    y: Any,
    rtol: Any = None,
    atol: Any = None,
    message: Any = None,
    summarize: int | None = None,
    name: str | None = None,
) -> None:
    """Raise unless ``|x - y| <= atol + rtol |y|`` everywhere; by default ten times machine's."""
    left, right = _pair(x, y)
    of = left.dtype
    tolerance = 10 * float(finfo(of.storage).eps) if of.is_floating else 0.0
    relative = tolerance if rtol is None else float(rtol)
    absolute = tolerance if atol is None else float(atol)
    one, other = left._value(), right._value()
    if not (np.abs(one - other) <= absolute + relative * np.abs(other)).all():
        raise invalid(
            f"{_said(message)}`x` and `y` differ by more than rtol = {relative} and atol = "
            f"{absolute} allow\nx = {one}\ny = {other}"
        )


def _one(
    x: Any, message: Any = None, summarize: int | None = None, name: str | None = None
) -> Callable[..., None]:
    return lambda sign, holds: _compare(x, 0, message, sign, holds)


@variant(_one, "<", np.less)
def assert_negative() -> None:
    """Raise unless ``x < 0`` everywhere."""


@variant(_one, ">", np.greater)
def assert_positive() -> None:
    """Raise unless ``x > 0`` everywhere."""


@variant(_one, ">=", np.greater_equal)
def assert_non_negative() -> None:
    """Raise unless ``x >= 0`` everywhere."""


@variant(_one, "<=", np.less_equal)
def assert_non_positive() -> None:
    """Raise unless ``x <= 0`` everywhere."""


def check_numerics(tensor: Any, message: str, name: str | None = None) -> Tensor:
    """The tensor, unless it has infinities or NaN: then raise."""
    given = convert_to_tensor(tensor)
    _check_numbers(given, message)
    return identity(given)


@again(effect=False)
def _check_numbers(given: Tensor, message: str) -> None:
    value = given._value()
    found = [
        what for what, there in (("Inf", np.isinf(value)), ("NaN", np.isnan(value))) if there.any()
    ]
    if found:
        raise invalid(
            f"{message} : Tensor had {' and '.join(found)} values [Op:CheckNumerics] name: "
        )


@again(effect=False)
def assert_all_finite(x: Any, message: str, name: str | None = None) -> Tensor:
    """The tensor, unless it has infinities or NaN: then raise."""
    return check_numerics(x, message)


def assert_rank(x: Any, rank: Any, message: Any = None, name: str | None = None) -> None:
    """Raise unless a tensor has so many axes."""
    given = convert_to_tensor(x)
    if len(given.shape) != int(rank):
        raise ValueError(
            f"{_said(message)}Tensor {given!r} must have rank {int(rank)}.  Received rank "
            f"{len(given.shape)}, shape {given.shape}"
        )


def assert_rank_at_least(x: Any, rank: Any, message: Any = None, name: str | None = None) -> None:
    """Raise unless a tensor has at least so many axes."""
    given = convert_to_tensor(x)
    if len(given.shape) < int(rank):
        raise ValueError(
            f"{_said(message)}Tensor {given!r} must have rank at least {int(rank)}.  Received "
            f"rank {len(given.shape)}, shape {given.shape}"
        )


def assert_rank_in(
    x: Any, ranks: Iterable[Any], message: Any = None, name: str | None = None
) -> None:
    """Raise unless a tensor has one of these numbers of axes."""
    given = convert_to_tensor(x)
    allowed = tuple(int(rank) for rank in ranks)
    if len(given.shape) not in allowed:
        raise ValueError(
            f"{_said(message)}Tensor {given!r} must have rank in {allowed}.  Received rank "
            f"{len(given.shape)}, shape {given.shape}"
        )


def assert_scalar(tensor: Any, message: Any = None, name: str | None = None) -> Tensor:
    """The tensor, unless it has axes: then raise."""
    given = convert_to_tensor(tensor)
    if len(given.shape):
        raise ValueError(f"{_said(message)}Expected scalar shape, saw shape: {given.shape}.")
    return given


def assert_shapes(
    shapes: Any,
    data: Any = None,
    summarize: int | None = None,
    message: Any = None,
    name: str | None = None,
) -> None:
    """Raise unless tensors have shapes, in which a name stands for the same length everywhere."""
    pairs = shapes.items() if isinstance(shapes, Mapping) else shapes
    known: dict[str, int] = {}
    for x, shape in pairs:
        lengths = convert_to_tensor(x)._lengths()
        wanted = (shape,) if isinstance(shape, (int, str)) else tuple(shape)
        if len(wanted) != len(lengths):
            raise ValueError(
                f"{_said(message)}Specified by tensor {x} rank: {len(lengths)} is not {len(wanted)}"
            )
        for size, length in zip(wanted, lengths, strict=True):
            if size is None:
                continue
            expected = known.setdefault(size, length) if isinstance(size, str) else int(size)
            if expected != length:
                raise ValueError(
                    f"{_said(message)}Specified by tensor {x} dimension {size}: expected "
                    f"{expected}, but it is {length}"
                )


def assert_type(tensor: Any, tf_type: Any, message: Any = None, name: str | None = None) -> None:
    """Raise ``TypeError`` unless a tensor has a dtype."""
    composite = hasattr(tensor, "_components")
    given, wanted = tensor if composite else convert_to_tensor(tensor), as_dtype(tf_type)
    if given.dtype != wanted:
        raise TypeError(
            f"{_said(message)}{given!r} must be of type {wanted!r}; got {given.dtype!r}"
        )


def assert_integer(x: Any, message: Any = None, name: str | None = None) -> None:
    """Raise ``TypeError`` unless a tensor is one of integers."""
    given = convert_to_tensor(x)
    if not given.dtype.is_integer:
        raise TypeError(f'{_said(message)}Expected "x" to be integer type.  Found: {given.dtype!r}')


def assert_same_float_dtype(tensors: Any = None, dtype: Any = None) -> Any:
    """The dtype that all tensors have, unless they differ or are not of floating point."""
    found = None if dtype is None else as_dtype(dtype)
    for each in tensors or []:
        of = convert_to_tensor(each).dtype
        if found is not None and of != found:
            raise ValueError(f"Tensor {each!r} must be of type {found!r}; got {of!r}")
        found = of
    found = as_dtype("float32") if found is None else found
    if not found.is_floating:
        raise ValueError(f"Expected floating point type, got {found!r}.")
    return found


def assert_proper_iterable(values: Any) -> None:
    """Raise ``TypeError`` unless values come one by one and are no tensor, array or text."""
    if isinstance(values, (Operand, np.ndarray, str, bytes)) or not isinstance(values, Iterable):
        raise TypeError(
            f"Expected argument `values` to be a iterable of tensors. Found: {type(values)}"
        )


def is_numeric_tensor(tensor: Any) -> bool:
    """True if it is a tensor of numbers."""
    return isinstance(tensor, Operand) and tensor._dtype().is_numeric


def enable_check_numerics(stack_height_limit: int = 30, path_length_limit: int = 50) -> None:
    """Nothing: which values are not finite is said with the gradients' warnings."""


def disable_check_numerics() -> None:
    """Nothing."""


def enable_traceback_filtering() -> None:
    """Nothing: errors are raised as they are."""


def disable_traceback_filtering() -> None:
    """Nothing."""


def is_traceback_filtering_enabled() -> bool:
    """No traceback is shortened."""
    return False


@again(effect=False)
def _compare(
    x: Any, y: Any, message: Any, sign: str, holds: Callable[[Any, Any], np.ndarray[Any, Any]]
) -> None:
    left, right = _pair(x, y)
    one, other = left._value(), right._value()
    try:
        held = np.asarray(holds(one, other), bool)
    except ValueError:
        raise invalid(f"Incompatible shapes: {left.shape} vs. {right.shape}") from None
    if held.all():
        return
    text = f"{_said(message)}Condition x {sign} y did not hold.\n"
    if held.ndim and one.shape == other.shape:
        where = np.argwhere(~held)
        text += (
            f"Indices of first {min(len(where), 3)} different values:\n{where[:3]}\n"
            f"Corresponding x values:\n{one[~held][:3]}\nCorresponding y values:\n"
            f"{other[~held][:3]}\n"
        )
    raise invalid(f"{text}x: {one}\ny: {other}")


def _pair(x: Any, y: Any) -> tuple[Tensor, Tensor]:
    if isinstance(y, Operand) and not isinstance(x, Operand):
        right = convert_to_tensor(y)
        return convert_to_tensor(x, right.dtype), right
    left = convert_to_tensor(x)
    if isinstance(y, (int, float)) and left.dtype.is_numeric:
        return left, convert_to_tensor(y, left.dtype)
    return left, convert_to_tensor(y)


def _said(message: Any) -> str:
    return "" if message is None else f"{message}\n"


def _shown(value: Any) -> Any:
    return value.numpy() if isinstance(value, Operand) else value

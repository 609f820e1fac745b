"""Control flow: Python decides and repeats, as TensorFlow does when it executes eagerly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gradwire.tf import nest, static
from gradwire.tf.conversion import convert_to_tensor
from gradwire.tf.dtypes import bool_
from gradwire.tf.errors import invalid
from gradwire.tf.graphs import one_operation
from gradwire.tf.operators import identity
from gradwire.tf.seeds import SEEDS
from gradwire.tf.tensor_arrays import TensorArray
from gradwire.tf.tensors import Operand, Tensor

__all__ = [
    "case", "cond", "group", "identity_n", "no_op", "switch_case", "tuple", "while_loop",
]  # fmt: skip


@one_operation(loop=False)
def cond(
    pred: Any,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    name: str | None = None,
) -> Any:
    """The result of ``true_fn`` if ``pred`` holds, else that of ``false_fn``."""
    for which, function in (("true_fn", true_fn), ("false_fn", false_fn)):
        if function is None:
            raise TypeError(f"cond(): '{which}' argument required")
        if not callable(function):
            raise TypeError(f"'{which}' must be callable.")
    assert true_fn is not None
    assert false_fn is not None
    first, second = SEEDS.part(), SEEDS.part()
    holds = bool(pred)
    with SEEDS.running(first if holds else second):
        return true_fn() if holds else false_fn()


@one_operation(loop=False)
def case(
    pred_fn_pairs: Any,
    default: Callable[[], Any] | None = None,
    exclusive: bool = False,
    strict: bool = False,
    name: str = "case",
) -> Any:
    """The result of the function beside the first condition that holds, else of ``default``.

    A list or tuple of one value is that value, unless ``strict`` or where nothing is decided.
    """
    if isinstance(pred_fn_pairs, dict):
        if not exclusive:
            raise ValueError(
                "with `exclusive=False` the order counts; pass `pred_fn_pairs` as a list of pairs"
            )
        pred_fn_pairs = [(pred.deref(), f) for pred, f in pred_fn_pairs.items()]
    if not isinstance(pred_fn_pairs, (list, builtin_tuple)):
        raise TypeError(
            f"`pred_fn_pairs` must hold pairs in a list, tuple or dict; got {type(pred_fn_pairs)}"
        )
    for pred, function in pred_fn_pairs:
        if not isinstance(pred, Operand):
            raise TypeError(f"pred must be a Tensor, got: {pred}")
        if pred._dtype() != bool_:
            raise TypeError(f"pred must be of type bool: {pred._dtype().name}")
        if not callable(function):
            raise TypeError(f"function for pred {pred} must be callable.")
    if default is not None and not callable(default):
        raise TypeError("default must be callable.")
    holding = [function for pred, function in pred_fn_pairs if pred]
    if exclusive and len(holding) > 1:
        raise invalid(f"{len(holding)} conditions hold, but `exclusive=True` allows only one")
    chosen = holding[0] if holding else default
    if chosen is not None:
        result = chosen()
        decided = len(pred_fn_pairs) > 1 or default is not None
        single = isinstance(result, (list, builtin_tuple)) and len(result) == 1
        return result[0] if single and decided and not strict else result
    raise invalid("no condition of `pred_fn_pairs` holds; pass `default` for this case")


@one_operation(loop=False)
def switch_case(
    branch_index: Any,
    branch_fns: Any,
    default: Callable[[], Any] | None = None,
    name: str = "switch_case",
) -> Any:
    """The result of the function of a number; of a missing one, that of ``default`` or the last."""
    if not isinstance(branch_index, Operand):
        raise TypeError(f"`branch_index` {branch_index!r} is not a tensor; pass an integer tensor")
    if not branch_index._dtype().is_integer:
        raise TypeError(f"`branch_index` has {branch_index._dtype()!r}; pass an integer tensor")
    if isinstance(branch_fns, dict):
        branches = dict(branch_fns)
    elif all(callable(each) for each in branch_fns):
        branches = dict(enumerate(branch_fns))
    else:
        branches = {int(number): function for number, function in branch_fns}
    if not branches:
        raise ValueError("`branch_fns` is empty")
    if not all(callable(each) for each in branches.values()):
        raise TypeError("branch_fns must hold callables")
    otherwise = branches[max(branches)] if default is None else default
    parts = {number: SEEDS.part() for number in branches}
    number = int(static.array(branch_index))
    with SEEDS.running(parts.get(number, parts[max(branches)])):
        return branches.get(number, otherwise)()


@one_operation(loop=True)
def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    maximum_iterations: Any = None,
    name: str | None = None,
) -> Any:
    """The variables after ``body`` is applied to them repeatedly, as long as ``cond`` holds."""
    if not callable(cond):
        raise TypeError("'cond' must be callable.")
    if not callable(body):
        raise TypeError("'body' must be callable.")
    if not loop_vars:
        raise ValueError("'loop_vars' must be provided.")
    structure = list(loop_vars)
    most = None if maximum_iterations is None else static.integer(maximum_iterations)
    passes = 0
    while (most is None or passes < most) and cond(*loop_vars):
        loop_vars = body(*loop_vars)
        if len(structure) == 1 and isinstance(loop_vars, Operand):
            loop_vars = [loop_vars]
        nest.assert_same_structure(structure, list(loop_vars))
        passes += 1
    return nest.map_structure(_as_tensor, loop_vars)


def identity_n(input: Sequence[Any], name: str | None = None) -> list[Tensor]:
    """Other tensors of the same values."""
    return [identity(each) for each in input]


def group(*inputs: Any, **kwargs: Any) -> None:
    """Nothing: what was called is computed already."""


def no_op(name: str | None = None) -> None:
    """Nothing."""


def tuple(tensors: Any, control_inputs: Any = None, name: str | None = None) -> Any:
    """The tensors themselves."""
    return tensors


def _as_tensor(value: Any) -> Any:
    if isinstance(value, TensorArray) or hasattr(value, "_components"):
        return value
    return convert_to_tensor(value)


builtin_tuple: type[Any] = type(())

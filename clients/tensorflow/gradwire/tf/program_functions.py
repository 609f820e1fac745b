"""Functions of tensors that are functions of the program: recorded once, and called by a name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gradwire.frontends import CALL, VALUE, Body, Scope
from gradwire.tf.calls import finished
from gradwire.tf.nodes import Spec, TensorNode, parameter, part_of, paused
from gradwire.tf.tensors import Tensor


class ProgramFunction:
    """``function``, recorded with tensors such as ``operands``, for those of any shapes.

    It gives several tensors, whose program does not depend on shapes. No tape records its calls.
    """

    def __init__(
        self, function: Callable[..., Sequence[Tensor]], operands: Sequence[Tensor]
    ) -> None:
        scope = Scope(None)
        params = [parameter(scope, each._node) for each in operands]
        with paused():
            results = [each._node for each in function(*[Tensor(param) for param in params])]
            self._body: Body = Body(scope, tuple(params), TensorNode(VALUE, (results,)))

    def __call__(self, operands: Sequence[Tensor], specs: Sequence[Spec]) -> list[Tensor]:
        """Its results, of which these are the dtypes and shapes."""
        with paused():
            whole = TensorNode(CALL, (self._body, *[each._node for each in operands]))
            return [finished(part_of(whole, i, spec)) for i, spec in enumerate(specs)]

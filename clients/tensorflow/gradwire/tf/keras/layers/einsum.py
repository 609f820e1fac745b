"""Dense layers along any axes, by an equation of Einstein's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gradwire.tf as tf
from gradwire.tf.arguments import only
from gradwire.tf.keras import initializers
from gradwire.tf.keras.configurable import configurable, unset
from gradwire.tf.keras.layers.base import Layer
from gradwire.tf.keras.layers.specs import InputSpec

__all__ = ["EinsumDense"]


@configurable
class EinsumDense(Layer):
    """``activation(einsum(equation, x, kernel) + bias)``.

    ``equation`` is ``"input,kernel->output"``, dots in the first and the last for any axes;
    ``output_shape`` has the lengths of the output but the batch's, None where they are the
    input's; ``bias_axes`` are the axes of the output along which there is a bias.
    """

    equation: str
    output_shape: Any
    activation: Any = None
    bias_axes: str | None = None
    kernel_initializer: Any = "glorot_uniform"
    bias_initializer: Any = "zeros"
    kernel_regularizer: Any = None
    bias_regularizer: Any = None
    kernel_constraint: Any = None
    bias_constraint: Any = None
    lora_rank: int | None = None
    kernel: Any = unset()
    bias: Any = unset()

    def __post_init__(self) -> None:
        only("EinsumDense", lora_rank=(self.lora_rank, None))
        shape = self.output_shape
        self.output_shape = (shape,) if isinstance(shape, int) else tuple(shape)

    def build(self, input_shape: Any) -> None:
        self.input_spec: Any = InputSpec(ndim=len(input_shape))
        kernel, bias = _shapes(self.equation, input_shape, self.output_shape, self.bias_axes)
        self._add("kernel", kernel, first=self._initializer())
        if bias is not None:
            self._add("bias", bias)

    def _initializer(self) -> Any:
        """The kernel's initialiser, with its axes that the output has as axes of outputs."""
        found = self.kernel_initializer
        if not isinstance(found, initializers.VarianceScaling):
            return found
        letters, output = self.equation.replace(" ", "").split(",")[1].split("->")
        of_outputs = [letter in output for letter in letters]
        axes = [[i for i, has in enumerate(of_outputs) if has is kind] for kind in (False, True)]
        return found.along(*axes)

    def call(self, inputs: Any) -> Any:
        value = tf.einsum(self.equation, inputs, self.kernel)
        return self.activation(value if self.bias is None else value + self.bias)


def _shapes(
    equation: str, input_shape: Sequence[int], output_shape: Sequence[Any], bias_axes: str | None
) -> tuple[list[int], list[int] | None]:
    """The shapes of the kernel and of the bias, if there is one."""
    try:
        operands, result = equation.replace(" ", "").split("->")
        given, kernel = operands.split(",")
    except ValueError:
        raise ValueError(
            "`equation` must have two operands and a result, such as 'ab,bc->ac' or "
            f"'...b,bc->...c'; got '{equation}'"
        ) from None
    lengths = dict(_aligned(given, list(input_shape)))
    outputs = [None, *output_shape] if "..." not in result else list(output_shape)
    for letter, length in _aligned(result, outputs):
        if length is None:
            continue
        if lengths.get(letter, length) != length and letter in given:
            raise ValueError(
                f"Axis '{letter}' has length {lengths[letter]} in the input but {length} in "
                "`output_shape`"
            )
        lengths[letter] = length
    letters = result.replace("...", "")
    missing = [letter for letter in bias_axes or "" if letter not in letters]
    if missing:
        raise ValueError(
            f"`bias_axes` has the axis '{missing[0]}', which the result '{result}' lacks"
        )
    if not bias_axes:
        return [lengths[letter] for letter in kernel], None
    first = min(letters.index(letter) for letter in bias_axes)
    bias = [lengths[letter] if letter in bias_axes else 1 for letter in letters[first:]]
    if result.endswith("..."):
        bias += [1] * (len(input_shape) - len(given.replace("...", "")))
    return [lengths[letter] for letter in kernel], bias


def _aligned(letters: str, lengths: list[Any]) -> list[tuple[str, Any]]:
    """Letters with lengths: from the right where dots come first, else from the left."""
    if letters.startswith("..."):
        names = letters[3:]
        return list(zip(names[::-1], lengths[::-1], strict=False))
    return list(zip(letters.replace("...", ""), lengths, strict=False))

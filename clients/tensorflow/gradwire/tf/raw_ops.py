"""``tf.raw_ops``: operations by the names of TensorFlow's kernels, their arguments by keyword.

>>> tf.raw_ops.Mul(x=2.0, y=3.0)
<tf.Tensor: shape=(), dtype=float32, numpy=6.0>
"""

from __future__ import annotations

import re
import sys
import typing
from collections.abc import Callable

import gradwire.tf as tf
from gradwire.tf import absent

_REDUCED: dict[str, str] = {"input": "input_tensor", "keep_dims": "keepdims"}
#: Operations of one tensor or of two, which are given in their order.
_UNARY = (
    "Abs Neg Square Sqrt Rsqrt Exp Expm1 Log Log1p Sin Cos Tan Asin Acos Atan Sinh Cosh Tanh Asinh "
    "Acosh Atanh Sigmoid Sign Floor Ceil Round Rint Reciprocal Erf Erfc Erfinv Lgamma Digamma "
    "Softsign Softplus Relu Relu6 Elu Selu LeakyRelu Softmax LogSoftmax Real Imag Conj ComplexAbs "
    "Angle Invert IsNan IsInf IsFinite LogicalNot OnesLike ZerosLike StopGradient Identity L2Loss"
)
_BINARY = (
    "Add AddV2 Sub Mul Div RealDiv DivNoNan MulNoNan FloorDiv FloorMod Pow Maximum Minimum Atan2 "
    "SquaredDifference Xlogy Xdivy Xlog1py Equal NotEqual Less LessEqual Greater GreaterEqual "
    "LogicalAnd LogicalOr BitwiseAnd BitwiseOr BitwiseXor LeftShift RightShift NextAfter Zeta "
    "Polygamma Igamma Igammac"
)
_ELEMENTWISE: set[str] = {*_UNARY.split(), *_BINARY.split()}
#: The function's name where it differs from the operation's.
_PLACES: dict[str, str] = {
    "Neg": "negative",
    "Sub": "subtract",
    "Mul": "multiply",
    "Div": "divide",
    "RealDiv": "realdiv",
    "AddV2": "add",
    "DivNoNan": "divide_no_nan",
    "MulNoNan": "multiply_no_nan",
    "FloorDiv": "floordiv",
    "FloorMod": "floormod",
    "ComplexAbs": "abs",
    "NextAfter": "nextafter",
}
#: Operations whose arguments have the function's names.
_NAMED: set[str] = set(
    (
        "Reshape Tile Fill Range Size Rank Cumsum Cumprod GatherNd ScatterNd OneHot AddN BiasAdd "
        "BroadcastTo Einsum Slice Cholesky CheckNumerics Complex UnsortedSegmentSum SegmentSum"
    ).split()
)
#: The rest: the function, and its names for the arguments where they are others.
_OTHERS: dict[str, tuple[str, dict[str, str]]] = {
    "Sum": ("reduce_sum", _REDUCED),
    "Mean": ("reduce_mean", _REDUCED),
    "Prod": ("reduce_prod", _REDUCED),
    "Max": ("reduce_max", _REDUCED),
    "Min": ("reduce_min", _REDUCED),
    "All": ("reduce_all", _REDUCED),
    "Any": ("reduce_any", _REDUCED),
    "MatMul": ("matmul", {}),
    "BatchMatMul": ("matmul", {"x": "a", "y": "b", "adj_x": "adjoint_a", "adj_y": "adjoint_b"}),
    "Transpose": ("transpose", {"x": "a"}),
    "Concat": ("concat", {"concat_dim": "axis"}),
    "Pack": ("stack", {}),
    "Unpack": ("unstack", {}),
    "ExpandDims": ("expand_dims", {"dim": "axis"}),
    "Squeeze": ("squeeze", {"axis": "axis", "squeeze_dims": "axis"}),
    "Cast": ("cast", {"DstT": "dtype"}),
    "Shape": ("shape", {"out_type": "out_type"}),
    "ArgMax": ("argmax", {"dimension": "axis"}),
    "ArgMin": ("argmin", {"dimension": "axis"}),
    "GatherV2": ("gather", {}),
    "Select": ("where", {"t": "x", "e": "y"}),
    "ClipByValue": ("clip_by_value", {"x": "t"}),
    "ReverseV2": ("reverse", {}),
    "Pad": ("pad", {"input": "tensor"}),
    "MatrixInverse": ("inv", {}),
    "MatrixDeterminant": ("det", {}),
    "MatrixSolve": ("solve", {}),
    "MatrixDiag": ("diag", {}),
    "MatrixDiagPart": ("diag_part", {}),
    "Conv2D": ("conv2d", {"filter": "filters"}),
}


def __getattr__(name: str) -> Callable[..., typing.Any]:
    """An operation by its name; a later version of one is the same operation."""
    for stem in (name, re.sub(r"V\d$", "", name)):
        if stem in _OTHERS:
            return _named(name, *_OTHERS[stem])
        if stem in _NAMED:
            return _named(name, _snake(stem), {})
        if stem in _ELEMENTWISE:
            return _in_order(name, _PLACES.get(stem, _snake(stem)))
    raise AttributeError(f"there is no operation tf.raw_ops.{name}")


def _named(name: str, place: str, renamed: dict[str, str]) -> Callable[..., typing.Any]:
    """An operation whose arguments have names of their own."""

    def operation(**kwargs: typing.Any) -> typing.Any:
        given = {renamed.get(key, key): value for key, value in kwargs.items()}
        if name == "Einsum":
            return tf.einsum(given["equation"], *given["inputs"])
        return _function(place)(**given)

    operation.__name__ = operation.__qualname__ = name
    return operation


def _in_order(name: str, place: str) -> Callable[..., typing.Any]:
    """An operation of one or two tensors, whatever they are called."""

    def operation(**kwargs: typing.Any) -> typing.Any:
        options = {key: kwargs.pop(key) for key in ("name", "alpha") if key in kwargs}
        return _function(place)(*kwargs.values(), **options)

    operation.__name__ = operation.__qualname__ = name
    return operation


def _function(place: str) -> Callable[..., typing.Any]:
    """The function of a name, in whichever part of ``tf`` it is."""
    parts = (tf, tf.math, tf.nn, tf.linalg, tf.bitwise, tf.debugging)
    return next(getattr(part, place) for part in parts if hasattr(part, place))  # type: ignore[no-any-return]


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


absent.name_missing(sys.modules[__name__], "raw_ops")

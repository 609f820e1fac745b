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
#: Where the function of one is called otherwise.
_PLACES: dict[str, str] = {
    "Neg": "negative",
    "Sub": "subtract",
    "Mul": "multiply",
    "Div": "divide",
    "RealDiv": "realdiv",
    "AddV2": "add",
    "DivNoNan": "math.divide_no_nan",
    "MulNoNan": "math.multiply_no_nan",
    "FloorDiv": "math.floordiv",
    "FloorMod": "math.floormod",
    "ComplexAbs": "abs",
    "IsNan": "math.is_nan",
    "IsInf": "math.is_inf",
    "IsFinite": "math.is_finite",
    "Relu6": "nn.relu6",
    "L2Loss": "nn.l2_loss",
    "Xlog1py": "math.xlog1py",
    "Invert": "bitwise.invert",
    "NextAfter": "math.nextafter",
}
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
    "Reshape": ("reshape", {}),
    "Transpose": ("transpose", {"x": "a"}),
    "Concat": ("concat", {"concat_dim": "axis"}),
    "Pack": ("stack", {}),
    "Unpack": ("unstack", {}),
    "ExpandDims": ("expand_dims", {"dim": "axis"}),
    "Squeeze": ("squeeze", {"axis": "axis", "squeeze_dims": "axis"}),
    "Tile": ("tile", {}),
    "Cast": ("cast", {"DstT": "dtype"}),
    "Fill": ("fill", {}),
    "Range": ("range", {}),
    "Shape": ("shape", {"out_type": "out_type"}),
    "Size": ("size", {}),
    "Rank": ("rank", {}),
    "Cumsum": ("cumsum", {}),
    "Cumprod": ("math.cumprod", {}),
    "ArgMax": ("argmax", {"dimension": "axis"}),
    "ArgMin": ("argmin", {"dimension": "axis"}),
    "GatherV2": ("gather", {}),
    "GatherNd": ("gather_nd", {}),
    "ScatterNd": ("scatter_nd", {}),
    "Select": ("where", {"t": "x", "e": "y"}),
    "OneHot": ("one_hot", {}),
    "AddN": ("add_n", {}),
    "BiasAdd": ("nn.bias_add", {}),
    "ClipByValue": ("clip_by_value", {"x": "t"}),
    "BroadcastTo": ("broadcast_to", {}),
    "Einsum": ("einsum", {}),
    "ReverseV2": ("reverse", {}),
    "Slice": ("slice", {}),
    "Pad": ("pad", {"input": "tensor"}),
    "Cholesky": ("linalg.cholesky", {}),
    "MatrixInverse": ("linalg.inv", {}),
    "MatrixDeterminant": ("linalg.det", {}),
    "MatrixSolve": ("linalg.solve", {}),
    "MatrixDiag": ("linalg.diag", {}),
    "MatrixDiagPart": ("linalg.diag_part", {}),
    "Conv2D": ("nn.conv2d", {"filter": "filters"}),
    "CheckNumerics": ("debugging.check_numerics", {}),
    "Complex": ("complex", {}),
    "UnsortedSegmentSum": ("math.unsorted_segment_sum", {}),
    "SegmentSum": ("math.segment_sum", {}),
}


def __getattr__(name: str) -> Callable[..., typing.Any]:
    """An operation by its name; a later version of one is the same operation."""
    for stem in (name, re.sub(r"V\d$", "", name)):
        if stem in _OTHERS:
            return _named(name, *_OTHERS[stem])
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
    found: typing.Any = tf
    for part in place.split("."):
        found = next(getattr(each, part) for each in (found, tf.math, tf.nn) if hasattr(each, part))
    return found  # type: ignore[no-any-return]


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


absent.name_missing(sys.modules[__name__], "raw_ops")

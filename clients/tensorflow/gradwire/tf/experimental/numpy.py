"""``tf.experimental.numpy``: NumPy's functions of tensors, with NumPy's dtypes."""

from __future__ import annotations

import math

from gradwire.tf.experimental.functions import (
    NumpyFunction,
    arange,
    array,
    asarray,
    experimental_enable_numpy_behavior,
    eye,
    full,
    linspace,
    ndim,
    ones,
    shape,
    size,
    zeros,
)
from gradwire.tf.tensors import Tensor

__all__ = [
    "abs",
    "absolute",
    "add",
    "all",
    "amax",
    "amin",
    "any",
    "append",
    "arange",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "argmax",
    "argmin",
    "argsort",
    "around",
    "array",
    "asarray",
    "average",
    "broadcast_to",
    "cbrt",
    "ceil",
    "clip",
    "concatenate",
    "conj",
    "cos",
    "cosh",
    "count_nonzero",
    "cross",
    "cumprod",
    "cumsum",
    "deg2rad",
    "diag",
    "diagonal",
    "diff",
    "divide",
    "dot",
    "dstack",
    "e",
    "einsum",
    "equal",
    "exp",
    "exp2",
    "expand_dims",
    "experimental_enable_numpy_behavior",
    "expm1",
    "eye",
    "fabs",
    "flip",
    "fliplr",
    "flipud",
    "floor",
    "floor_divide",
    "full",
    "greater",
    "greater_equal",
    "heaviside",
    "hstack",
    "hypot",
    "imag",
    "inf",
    "inner",
    "isfinite",
    "isinf",
    "isnan",
    "kron",
    "less",
    "less_equal",
    "linspace",
    "log",
    "log1p",
    "log2",
    "log10",
    "logaddexp",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "matmul",
    "max",
    "maximum",
    "mean",
    "min",
    "minimum",
    "mod",
    "moveaxis",
    "multiply",
    "nanmean",
    "nansum",
    "ndarray",
    "ndim",
    "negative",
    "newaxis",
    "not_equal",
    "ones",
    "ones_like",
    "outer",
    "pad",
    "pi",
    "power",
    "prod",
    "ptp",
    "rad2deg",
    "ravel",
    "real",
    "reciprocal",
    "remainder",
    "repeat",
    "reshape",
    "roll",
    "rot90",
    "shape",
    "sign",
    "sin",
    "sinc",
    "sinh",
    "size",
    "sort",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "std",
    "subtract",
    "sum",
    "swapaxes",
    "take",
    "take_along_axis",
    "tan",
    "tanh",
    "tensordot",
    "tile",
    "trace",
    "transpose",
    "tril",
    "triu",
    "true_divide",
    "var",
    "vdot",
    "vstack",
    "where",
    "zeros",
    "zeros_like",
]

pi: float = math.pi
e: float = math.e
inf: float = math.inf
newaxis: None = None
ndarray: type[Tensor] = Tensor
abs: NumpyFunction = NumpyFunction("abs")
absolute: NumpyFunction = NumpyFunction("absolute")
add: NumpyFunction = NumpyFunction("add")
all: NumpyFunction = NumpyFunction("all")
amax: NumpyFunction = NumpyFunction("amax")
amin: NumpyFunction = NumpyFunction("amin")
any: NumpyFunction = NumpyFunction("any")
append: NumpyFunction = NumpyFunction("append")
arccos: NumpyFunction = NumpyFunction("arccos")
arccosh: NumpyFunction = NumpyFunction("arccosh")
arcsin: NumpyFunction = NumpyFunction("arcsin")
arcsinh: NumpyFunction = NumpyFunction("arcsinh")
arctan: NumpyFunction = NumpyFunction("arctan")
arctan2: NumpyFunction = NumpyFunction("arctan2")
arctanh: NumpyFunction = NumpyFunction("arctanh")
argmax: NumpyFunction = NumpyFunction("argmax")
argmin: NumpyFunction = NumpyFunction("argmin")
argsort: NumpyFunction = NumpyFunction("argsort")
around: NumpyFunction = NumpyFunction("around")
average: NumpyFunction = NumpyFunction("average")
broadcast_to: NumpyFunction = NumpyFunction("broadcast_to")
cbrt: NumpyFunction = NumpyFunction("cbrt")
ceil: NumpyFunction = NumpyFunction("ceil")
clip: NumpyFunction = NumpyFunction("clip")
concatenate: NumpyFunction = NumpyFunction("concatenate")
conj: NumpyFunction = NumpyFunction("conj")
cos: NumpyFunction = NumpyFunction("cos")
cosh: NumpyFunction = NumpyFunction("cosh")
count_nonzero: NumpyFunction = NumpyFunction("count_nonzero")
cross: NumpyFunction = NumpyFunction("cross")
cumprod: NumpyFunction = NumpyFunction("cumprod")
cumsum: NumpyFunction = NumpyFunction("cumsum")
deg2rad: NumpyFunction = NumpyFunction("deg2rad")
diag: NumpyFunction = NumpyFunction("diag")
diagonal: NumpyFunction = NumpyFunction("diagonal")
diff: NumpyFunction = NumpyFunction("diff")
divide: NumpyFunction = NumpyFunction("divide")
dot: NumpyFunction = NumpyFunction("dot")
dstack: NumpyFunction = NumpyFunction("dstack")
einsum: NumpyFunction = NumpyFunction("einsum")
equal: NumpyFunction = NumpyFunction("equal")
exp: NumpyFunction = NumpyFunction("exp")
exp2: NumpyFunction = NumpyFunction("exp2")
expand_dims: NumpyFunction = NumpyFunction("expand_dims")
expm1: NumpyFunction = NumpyFunction("expm1")
fabs: NumpyFunction = NumpyFunction("fabs")
flip: NumpyFunction = NumpyFunction("flip")
fliplr: NumpyFunction = NumpyFunction("fliplr")
flipud: NumpyFunction = NumpyFunction("flipud")
floor: NumpyFunction = NumpyFunction("floor")
floor_divide: NumpyFunction = NumpyFunction("floor_divide")
greater: NumpyFunction = NumpyFunction("greater")
greater_equal: NumpyFunction = NumpyFunction("greater_equal")
heaviside: NumpyFunction = NumpyFunction("heaviside")
hstack: NumpyFunction = NumpyFunction("hstack")
hypot: NumpyFunction = NumpyFunction("hypot")
imag: NumpyFunction = NumpyFunction("imag")
inner: NumpyFunction = NumpyFunction("inner")
isfinite: NumpyFunction = NumpyFunction("isfinite")
isinf: NumpyFunction = NumpyFunction("isinf")
isnan: NumpyFunction = NumpyFunction("isnan")
kron: NumpyFunction = NumpyFunction("kron")
less: NumpyFunction = NumpyFunction("less")
less_equal: NumpyFunction = NumpyFunction("less_equal")
log: NumpyFunction = NumpyFunction("log")
log10: NumpyFunction = NumpyFunction("log10")
log1p: NumpyFunction = NumpyFunction("log1p")
log2: NumpyFunction = NumpyFunction("log2")
logaddexp: NumpyFunction = NumpyFunction("logaddexp")
logical_and: NumpyFunction = NumpyFunction("logical_and")
logical_not: NumpyFunction = NumpyFunction("logical_not")
logical_or: NumpyFunction = NumpyFunction("logical_or")
logical_xor: NumpyFunction = NumpyFunction("logical_xor")
matmul: NumpyFunction = NumpyFunction("matmul")
max: NumpyFunction = NumpyFunction("max")
maximum: NumpyFunction = NumpyFunction("maximum")
mean: NumpyFunction = NumpyFunction("mean")
min: NumpyFunction = NumpyFunction("min")
minimum: NumpyFunction = NumpyFunction("minimum")
mod: NumpyFunction = NumpyFunction("mod")
moveaxis: NumpyFunction = NumpyFunction("moveaxis")
multiply: NumpyFunction = NumpyFunction("multiply")
nanmean: NumpyFunction = NumpyFunction("nanmean")
nansum: NumpyFunction = NumpyFunction("nansum")
negative: NumpyFunction = NumpyFunction("negative")
not_equal: NumpyFunction = NumpyFunction("not_equal")
ones_like: NumpyFunction = NumpyFunction("ones_like")
outer: NumpyFunction = NumpyFunction("outer")
pad: NumpyFunction = NumpyFunction("pad")
power: NumpyFunction = NumpyFunction("power")
prod: NumpyFunction = NumpyFunction("prod")
ptp: NumpyFunction = NumpyFunction("ptp")
rad2deg: NumpyFunction = NumpyFunction("rad2deg")
ravel: NumpyFunction = NumpyFunction("ravel")
real: NumpyFunction = NumpyFunction("real")
reciprocal: NumpyFunction = NumpyFunction("reciprocal")
remainder: NumpyFunction = NumpyFunction("remainder")
repeat: NumpyFunction = NumpyFunction("repeat")
reshape: NumpyFunction = NumpyFunction("reshape")
roll: NumpyFunction = NumpyFunction("roll")
rot90: NumpyFunction = NumpyFunction("rot90")
sign: NumpyFunction = NumpyFunction("sign")
sin: NumpyFunction = NumpyFunction("sin")
sinc: NumpyFunction = NumpyFunction("sinc")
sinh: NumpyFunction = NumpyFunction("sinh")
sort: NumpyFunction = NumpyFunction("sort")
sqrt: NumpyFunction = NumpyFunction("sqrt")
square: NumpyFunction = NumpyFunction("square")
squeeze: NumpyFunction = NumpyFunction("squeeze")
stack: NumpyFunction = NumpyFunction("stack")
std: NumpyFunction = NumpyFunction("std")
subtract: NumpyFunction = NumpyFunction("subtract")
sum: NumpyFunction = NumpyFunction("sum")
swapaxes: NumpyFunction = NumpyFunction("swapaxes")
take: NumpyFunction = NumpyFunction("take")
take_along_axis: NumpyFunction = NumpyFunction("take_along_axis")
tan: NumpyFunction = NumpyFunction("tan")
tanh: NumpyFunction = NumpyFunction("tanh")
tensordot: NumpyFunction = NumpyFunction("tensordot")
tile: NumpyFunction = NumpyFunction("tile")
trace: NumpyFunction = NumpyFunction("trace")
transpose: NumpyFunction = NumpyFunction("transpose")
tril: NumpyFunction = NumpyFunction("tril")
triu: NumpyFunction = NumpyFunction("triu")
true_divide: NumpyFunction = NumpyFunction("true_divide")
var: NumpyFunction = NumpyFunction("var")
vdot: NumpyFunction = NumpyFunction("vdot")
vstack: NumpyFunction = NumpyFunction("vstack")
where: NumpyFunction = NumpyFunction("where")
zeros_like: NumpyFunction = NumpyFunction("zeros_like")

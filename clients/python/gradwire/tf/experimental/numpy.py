"""``tf.experimental.numpy``: NumPy's functions of tensors, with NumPy's dtypes."""

from __future__ import annotations

import math

from gradwire.tf.experimental.functions import (
    Named,
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
abs: Named = Named("abs")
absolute: Named = Named("absolute")
add: Named = Named("add")
all: Named = Named("all")
amax: Named = Named("amax")
amin: Named = Named("amin")
any: Named = Named("any")
append: Named = Named("append")
arccos: Named = Named("arccos")
arccosh: Named = Named("arccosh")
arcsin: Named = Named("arcsin")
arcsinh: Named = Named("arcsinh")
arctan: Named = Named("arctan")
arctan2: Named = Named("arctan2")
arctanh: Named = Named("arctanh")
argmax: Named = Named("argmax")
argmin: Named = Named("argmin")
argsort: Named = Named("argsort")
around: Named = Named("around")
average: Named = Named("average")
broadcast_to: Named = Named("broadcast_to")
cbrt: Named = Named("cbrt")
ceil: Named = Named("ceil")
clip: Named = Named("clip")
concatenate: Named = Named("concatenate")
conj: Named = Named("conj")
cos: Named = Named("cos")
cosh: Named = Named("cosh")
count_nonzero: Named = Named("count_nonzero")
cross: Named = Named("cross")
cumprod: Named = Named("cumprod")
cumsum: Named = Named("cumsum")
deg2rad: Named = Named("deg2rad")
diag: Named = Named("diag")
diagonal: Named = Named("diagonal")
diff: Named = Named("diff")
divide: Named = Named("divide")
dot: Named = Named("dot")
dstack: Named = Named("dstack")
einsum: Named = Named("einsum")
equal: Named = Named("equal")
exp: Named = Named("exp")
exp2: Named = Named("exp2")
expand_dims: Named = Named("expand_dims")
expm1: Named = Named("expm1")
fabs: Named = Named("fabs")
flip: Named = Named("flip")
fliplr: Named = Named("fliplr")
flipud: Named = Named("flipud")
floor: Named = Named("floor")
floor_divide: Named = Named("floor_divide")
greater: Named = Named("greater")
greater_equal: Named = Named("greater_equal")
heaviside: Named = Named("heaviside")
hstack: Named = Named("hstack")
hypot: Named = Named("hypot")
imag: Named = Named("imag")
inner: Named = Named("inner")
isfinite: Named = Named("isfinite")
isinf: Named = Named("isinf")
isnan: Named = Named("isnan")
kron: Named = Named("kron")
less: Named = Named("less")
less_equal: Named = Named("less_equal")
log: Named = Named("log")
log10: Named = Named("log10")
log1p: Named = Named("log1p")
log2: Named = Named("log2")
logaddexp: Named = Named("logaddexp")
logical_and: Named = Named("logical_and")
logical_not: Named = Named("logical_not")
logical_or: Named = Named("logical_or")
logical_xor: Named = Named("logical_xor")
matmul: Named = Named("matmul")
max: Named = Named("max")
maximum: Named = Named("maximum")
mean: Named = Named("mean")
min: Named = Named("min")
minimum: Named = Named("minimum")
mod: Named = Named("mod")
moveaxis: Named = Named("moveaxis")
multiply: Named = Named("multiply")
nanmean: Named = Named("nanmean")
nansum: Named = Named("nansum")
negative: Named = Named("negative")
not_equal: Named = Named("not_equal")
ones_like: Named = Named("ones_like")
outer: Named = Named("outer")
pad: Named = Named("pad")
power: Named = Named("power")
prod: Named = Named("prod")
ptp: Named = Named("ptp")
rad2deg: Named = Named("rad2deg")
ravel: Named = Named("ravel")
real: Named = Named("real")
reciprocal: Named = Named("reciprocal")
remainder: Named = Named("remainder")
repeat: Named = Named("repeat")
reshape: Named = Named("reshape")
roll: Named = Named("roll")
rot90: Named = Named("rot90")
sign: Named = Named("sign")
sin: Named = Named("sin")
sinc: Named = Named("sinc")
sinh: Named = Named("sinh")
sort: Named = Named("sort")
sqrt: Named = Named("sqrt")
square: Named = Named("square")
squeeze: Named = Named("squeeze")
stack: Named = Named("stack")
std: Named = Named("std")
subtract: Named = Named("subtract")
sum: Named = Named("sum")
swapaxes: Named = Named("swapaxes")
take: Named = Named("take")
take_along_axis: Named = Named("take_along_axis")
tan: Named = Named("tan")
tanh: Named = Named("tanh")
tensordot: Named = Named("tensordot")
tile: Named = Named("tile")
trace: Named = Named("trace")
transpose: Named = Named("transpose")
tril: Named = Named("tril")
triu: Named = Named("triu")
true_divide: Named = Named("true_divide")
var: Named = Named("var")
vdot: Named = Named("vdot")
vstack: Named = Named("vstack")
where: Named = Named("where")
zeros_like: Named = Named("zeros_like")

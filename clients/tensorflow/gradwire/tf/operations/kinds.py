"""The dtypes that operations take, by TensorFlow's names in messages and in its order."""

from __future__ import annotations

from typing import TypeAlias

from gradwire.tf import checks

Names: TypeAlias = "tuple[str, ...]"

FLOATS: Names = checks.FLOATS
INEXACT: Names = checks.INEXACT
INTEGERS: Names = checks.INTEGERS
BOOL: Names = ("bool",)
COMPLEX: Names = ("complex64", "complex128")
LAYER: Names = ("half", "bfloat16", "float", "double")
FLOAT_DOUBLE: Names = ("float", "double")
CONVOLVED: Names = (*LAYER, "int32")
SIGNED: Names = (*FLOATS, "int8", "int16", "int32", "int64", *COMPLEX)
ARITHMETIC: Names = (*FLOATS, *INTEGERS, *COMPLEX)
DIVISIBLE: Names = ("half", "float", "bfloat16", "double", *COMPLEX)
LOGARITHMIC: Names = (*LAYER, *COMPLEX)
MULTIPLIABLE: Names = (
    *FLOATS,
    *("uint8", "int8", "uint16", "int16", "int32", "uint32", "uint64", "int64"),
    *COMPLEX,
)
TRUNCATED: Names = ("int32", "int64", *FLOATS)
ORDERED_BINARY: Names = (
    *FLOATS,
    *("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"),
)
DIFFERENCES: Names = (*FLOATS, "int32", "int64", *COMPLEX)
ORDERED: Names = (
    *("float", "double", "int32", "uint8", "int16", "int8", "int64"),
    *("bfloat16", "uint16", "half", "uint32", "uint64"),
)
RECTIFIED: Names = (*ORDERED, "qint8")
SUMS: Names = (
    *("float", "double", "int32", "uint8", "int16", "int8", "complex64", "int64"),
    *("qint8", "quint8", "qint32", "bfloat16", "qint16", "quint16"),
    *("uint16", "complex128", "half", "uint32", "uint64"),
)
EXTREMES: Names = (*ORDERED, "qint8", "quint8", "qint32", "qint16", "quint16")
SOLVABLE: Names = ("double", "float", "half", *COMPLEX)
DETERMINABLE: Names = ("half", "float", "double", *COMPLEX)

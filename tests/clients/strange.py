"""Values that no program computes with, and some that look so, of the installed libraries."""

import array
import collections
import ctypes
import datetime
import decimal
import enum
import fractions
import pathlib
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import gradwire
import numpy as np


class Refusing:
    """An array of another library that cannot be read."""

    def __array__(self, *_, **__):
        raise KeyError("not now")


class Shaped(Refusing):
    """The same with a shape and a dtype."""

    shape = (2,)
    dtype = np.dtype(np.float64)


class Broken(Mapping[str, float]):
    """A mapping whose members cannot be read."""

    def __len__(self):
        return 1

    def __iter__(self):
        return iter("x")

    def __getitem__(self, _):
        raise OSError("gone")


class Holes(Sequence[float]):
    """A sequence whose members cannot be read."""

    def __len__(self):
        return 3

    def __getitem__(self, _):
        raise LookupError("gone")


class Secretive:
    """An object whose attributes cannot be read."""

    def __getattr__(self, name):
        raise ValueError(f"no {name} here")


class Color(enum.Enum):
    """An enumeration."""

    RED = 1


@dataclass
class Box:
    """A level of users."""

    x: object


def _recursive() -> list[Any]:
    made: list[Any] = [1.0]
    made.append(made)
    return made


def _recursive_by_name() -> dict[str, Any]:
    made: dict[str, Any] = {"x": 1.0}
    made["y"] = made
    return made


def _deep(wrap: Callable[[Any], Any]) -> Any:
    made: Any = 1.0
    for _ in range(5000):
        made = wrap(made)
    return made


def _libraries() -> dict[str, Callable[[], Any]]:
    found: dict[str, Callable[[], Any]] = {}
    if find_spec("scipy"):
        import scipy.sparse

        found["scipy"] = lambda: scipy.sparse.csr_array(np.eye(2))
        found["scipy of booleans"] = lambda: scipy.sparse.coo_matrix(np.eye(2, dtype=bool))
    if find_spec("pandas"):
        import pandas

        found["pandas frame"] = lambda: pandas.DataFrame({"a": [1.0, 2.0]})
        found["pandas mixed frame"] = lambda: pandas.DataFrame({"a": [1.0], "b": ["x"]})
        found["pandas text"] = lambda: pandas.Series(["a"])
        found["pandas integers with NA"] = lambda: pandas.array([1, None], dtype="Int64")
        found["pandas NA"] = lambda: pandas.NA
        found["pandas dates"] = lambda: pandas.date_range("2020", periods=2)
        found["pandas categories"] = lambda: pandas.Categorical(["a", "b"])
        found["pandas interval"] = lambda: pandas.Interval(0, 1)
    if find_spec("pyarrow"):
        import pyarrow

        found["arrow"] = lambda: pyarrow.array([1.0, 2.0])
        found["arrow text"] = lambda: pyarrow.array(["a"])
        found["arrow lists"] = lambda: pyarrow.array([[1.0], [1.0, 2.0]])
        found["arrow table"] = lambda: pyarrow.table({"a": [1.0]})
    if find_spec("xarray"):
        import xarray

        found["xarray"] = lambda: xarray.DataArray([1.0, 2.0])
        found["xarray of objects"] = lambda: xarray.DataArray(np.array(["a", None], object))
        found["xarray dataset"] = lambda: xarray.Dataset({"a": ("x", [1.0])})
    if find_spec("dask"):
        import dask.array

        found["dask"] = lambda: dask.array.ones(3)
        objects = np.array([1, "a"], object)
        found["dask of objects"] = lambda: dask.array.from_array(objects, chunks=1)
        dates = np.array(["2020"], "datetime64[D]")
        found["dask of dates"] = lambda: dask.array.from_array(dates, chunks=1)
    if find_spec("torch"):
        import torch

        found["torch with a gradient"] = lambda: torch.ones(2, requires_grad=True)
        found["torch sparse"] = lambda: torch.eye(2).to_sparse()
        found["torch nowhere"] = lambda: torch.ones(2, device="meta")
        found["torch bfloat16"] = lambda: torch.ones(2, dtype=torch.bfloat16)
    return found


#: Each makes a value: some can be used once only.
STRANGE: dict[str, Callable[[], Any]] = {
    "objects": lambda: np.array([1, "a", None], object),
    "numbers as objects": lambda: np.array([1.0, 2.0], object),
    "ragged": lambda: [[1.0], [1.0, 2.0]],
    "ragged below": lambda: [[[1.0]], [[1.0, 2.0]]],
    "date": lambda: np.datetime64("2020-01-01"),
    "dates": lambda: np.array(["2020-01-01"], "datetime64[D]"),
    "duration": lambda: np.timedelta64(3, "s"),
    "Python's date": lambda: datetime.date(2020, 1, 1),
    "Python's duration": lambda: datetime.timedelta(1),
    "void": lambda: np.void(b"abc"),
    "structured": lambda: np.zeros(2, [("a", float), ("b", int)]),
    "records": lambda: np.rec.array([(1.0, 2)], dtype=[("a", float), ("b", int)]),
    "bytes": lambda: b"abc",
    "bytearray": lambda: bytearray(b"a"),
    "memory": lambda: memoryview(b"abcd"),
    "memory of floats": lambda: memoryview(array.array("d", [1.0])),
    "NumPy's bytes": lambda: np.array([b"ab"]),
    "NumPy's text": lambda: np.array(["ab"]),
    "text": lambda: "hello",
    "texts": lambda: ["a", "b"],
    "a surrogate": lambda: "\udc80",
    "a surrogate as a key": lambda: {"\udc80": 1.0},
    "complex": lambda: 1j,
    "complexes": lambda: [1j, 2.0],
    "set": lambda: {1.0, 2.0},
    "frozenset": lambda: frozenset([1.0]),
    "generator": lambda: (i for i in range(3)),
    "iterator": lambda: iter([1.0]),
    "map": lambda: map(float, "12"),
    "range": lambda: range(3),
    "a huge integer": lambda: 10**400,
    "huge integers": lambda: [-(10**400)],
    "a huge key": lambda: {10**400: 1.0},
    "a key of NaN": lambda: {float("nan"): 1.0},
    "a key of None": lambda: {None: 1.0},
    "a key of a tuple": lambda: {(1, 2): 1.0},
    "recursive list": _recursive,
    "recursive dictionary": _recursive_by_name,
    "deep list": lambda: _deep(lambda inner: [inner]),
    "deep dictionary": lambda: _deep(lambda inner: {"x": inner}),
    "Decimal": lambda: decimal.Decimal("1.5"),
    "Decimals": lambda: [decimal.Decimal("1.5")],
    "Fraction": lambda: fractions.Fraction(1, 3),
    "Fractions": lambda: [fractions.Fraction(1, 3)],
    "None": lambda: None,
    "ellipsis": lambda: ...,
    "a class": lambda: Box,
    "an object": object,
    "enumeration": lambda: Color.RED,
    "UUID": uuid.uuid4,
    "path": lambda: pathlib.PurePosixPath("a"),
    "slice": lambda: slice(1),
    "module": lambda: np,
    "masked": lambda: np.ma.masked,
    "masked array": lambda: np.ma.masked_array([1.0, 2.0], mask=[False, True]),
    "long double": lambda: np.longdouble(1),
    "empty list": list,
    "empty lists": lambda: [[], []],
    "empty array": lambda: np.array([]),
    "NaN": lambda: float("nan"),
    "infinity": lambda: float("-inf"),
    "refusing": Refusing,
    "shaped": Shaped,
    "broken mapping": Broken,
    "broken sequence": Holes,
    "secretive": Secretive,
    "dataclass": lambda: Box(1.0),
    "dataclass of an object": lambda: Box(object()),
    "UserDict": lambda: collections.UserDict(x=1.0),
    "deque": lambda: collections.deque([1.0]),
    "Counter": lambda: collections.Counter("a"),
    "keys": {"x": 1.0}.keys,
    "array": lambda: array.array("d", [1.0]),
    "ctypes": ctypes.c_double * 3,
    "an object as a leaf": lambda: {"value": object()},
    "a number as base64": lambda: {"base64": 5},
    "a number as a reference": lambda: {"ref": 5},
    "an unknown dtype": lambda: {"value": 1.0, "dtype": "nope"},
    "an object as a dtype": lambda: {"value": 1.0, "dtype": object()},
    "a short index": lambda: gradwire.SparseArray(np.array([[0, 1]]), np.ones(1), (3,)),
    "sparse objects": lambda: gradwire.SparseArray(np.array([[0]]), np.array([None]), (3,)),
    "ragged objects": lambda: gradwire.RaggedArray(np.array([None]), np.array([0, 1])),
    "chunked nowhere": lambda: gradwire.ChunkedArray({"zarr": object()}, (3,)),
    **_libraries(),
}

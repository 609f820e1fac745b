"""Values that an array hides: masked ones, and nulls of tables. No number stands for them.

NumPy converts them to what happens to lie under the mask, to NaN or to 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from gradwire.errors import UsageError

#: What to do with a masked array.
MASKED_HINT = (
    "x.filled(value), x.compressed(), or send x.data and weights that are 0 where x.mask is true"
)
#: Attributes by which files mark values that are none, and pack others.
_FILL_ATTRIBUTES = ("_FillValue", "missing_value")
_PACKING_ATTRIBUTES = ("scale_factor", "add_offset")
#: What hides nothing.
_KNOWN = frozenset((float, int, bool, complex, str, bytes))


def plain(value: Any, name: str, dtype: DTypeLike | None = None) -> NDArray[Any]:
    """``value`` as an array of NumPy's; ``name`` is what errors call it.

    Raises: ``UsageError`` if some of its values are masked or null.
    """
    check_hides_nothing(value, name)
    return np.asarray(value, dtype)


def check_hides_nothing(value: Any, name: str) -> None:
    """Raise ``UsageError`` if an array, a table or a scalar has masked values or nulls.

    Among these are ``None`` in lists and in arrays of objects. NaN is a number.
    """
    kind = type(value)
    if kind is float or (kind is np.ndarray and value.dtype.kind != "O"):  # most are
        return
    if isinstance(value, np.ma.MaskedArray):
        if np.ma.is_masked(value):
            count = int(np.ma.getmaskarray(value).sum())
            raise UsageError(f"{name} has {count} masked values", hint=MASKED_HINT)
        return
    if isinstance(value, list | tuple):
        _check_items(value, name)
        return
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "O":
            _check_items(value.flat, name)
        return
    check = _CHECKS.get(kind.__module__.partition(".")[0])
    found = check(value) if check is not None else None
    if found is not None:
        hidden, hint = found
        raise UsageError(f"{name} has {hidden}", hint=hint)


def _check_items(items: Iterable[Any], name: str) -> None:
    for item in items:
        if type(item) in _KNOWN:
            continue
        if item is None:
            hint = "leave them out, or write NaN"
            raise UsageError(f"{name} has missing values: None", hint=hint)
        check_hides_nothing(item, name)


def _of_pandas(value: Any) -> tuple[str, str] | None:
    if type(value).__name__ in ("NAType", "NaTType") or any(map(_has_na, _columns(value))):
        return "missing values of pandas (NA)", "x.fillna(value), x.dropna() or x.astype(float)"
    return None


def _columns(value: Any) -> Iterator[Any]:
    """The columns of a frame; a series, an index or an array itself."""
    if getattr(value, "ndim", 0) < 2:
        yield value
        return
    for i in range(value.shape[1]):
        yield value.iloc[:, i]


def _has_na(column: Any) -> bool:
    """True for NA of an extension's dtype, and nulls among objects; NaN of floats is a number."""
    dtype = getattr(column, "dtype", None)
    if dtype is None:
        return False
    if isinstance(dtype, np.dtype):
        return dtype.kind == "O" and bool(column.isna().any())
    return not isinstance(dtype.na_value, float) and bool(column.isna().any())


def _of_arrow(value: Any) -> tuple[str, str] | None:
    columns = getattr(value, "columns", [value])
    count = sum(getattr(column, "null_count", 0) for column in columns)
    if count or getattr(value, "is_valid", True) is False:
        return "nulls of Arrow", "pyarrow.compute.fill_null(x, value) or drop_null(x)"
    return None


def _of_polars(value: Any) -> tuple[str, str] | None:
    columns = value.get_columns() if hasattr(value, "get_columns") else [value]
    if any(column.null_count() for column in columns if hasattr(column, "null_count")):
        return "nulls of polars", "x.fill_null(value) or x.drop_nulls()"
    return None


def _of_xarray(value: Any) -> tuple[str, str] | None:
    attributes = getattr(value, "attrs", {})
    for name in _PACKING_ATTRIBUTES:
        if name in attributes:
            return f"packed values: its attribute is {name}", "xarray.decode_cf decodes them"
    for name in _FILL_ATTRIBUTES:
        if name in attributes and np.isin(value.values, attributes[name]).any():
            hint = "xarray.decode_cf makes them NaN; or x.where(…, value)"
            return f"values that its attribute {name} says are missing", hint
    data = getattr(value, "data", None)
    return ("masked values", MASKED_HINT) if np.ma.is_masked(data) else None


#: What looks for hidden values, by the package of an array's class.
_CHECKS: Mapping[str, Callable[[Any], tuple[str, str] | None]] = {
    "pandas": _of_pandas,
    "pyarrow": _of_arrow,
    "polars": _of_polars,
    "xarray": _of_xarray,
}

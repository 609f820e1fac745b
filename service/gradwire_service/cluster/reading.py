"""Reads of stored rows: tried again where they fail for moments, their failures reported."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from gradwire_service.problems import RequestError, clip
from gradwire_service.wire.arrays_in import DTYPES, Dtype

Value = TypeVar("Value")
#: Seconds before a failed read is tried again: object stores and network disks fail for moments.
_RETRY_SECONDS = (0.1, 1.0)
#: What damaged or strange files raise, each time.
_DAMAGED = (ValueError, KeyError, TypeError, RuntimeError, NotImplementedError)
_HINT = "a path leads to a Zarr array, or to Parquet files"


def retried(read: Callable[[], Value]) -> Value:
    """The result of ``read``, which is tried again after an ``OSError``."""
    for seconds in _RETRY_SECONDS:
        try:
            return read()
        except FileNotFoundError:
            raise
        except OSError:
            time.sleep(seconds)
    return read()


@contextmanager
def damage_reported(address: str, pointer: str | None = None) -> Iterator[None]:
    """Report files that are not what they should be.

    Raises: ``RequestError`` (invalid_request; cluster_unavailable if they could not be read).
    """
    name = address.rpartition("/")[2]
    try:
        yield
    except FileNotFoundError as error:
        raise invalid(f"{name}: no such array or file", pointer, _HINT) from error
    except OSError as error:
        raise RequestError(
            "cluster_unavailable",
            f"{name}: the workers cannot read it: {clip(str(error), 200)}",
            pointer=pointer,
            hint="retry later; all workers need access to GRADWIRE_DATA_ROOT",
            retry_after_seconds=10,
        ) from error
    except _DAMAGED as error:
        raise invalid(f"{name}: {clip(str(error), 300)}", pointer, _HINT) from error


def invalid(detail: str, pointer: str | None, hint: str) -> RequestError:
    """The error of files that are no rows of numbers."""
    return RequestError("invalid_request", detail, pointer=pointer, hint=hint)


def number_dtype(dtype: Dtype, pointer: str) -> Dtype:
    """A dtype of numbers, in the byte order of this machine.

    Raises: ``RequestError`` (dtype_mismatch).
    """
    if dtype.name in DTYPES:
        return DTYPES[dtype.name]
    raise RequestError(
        "dtype_mismatch",
        f"the values have the dtype {dtype}",
        pointer=pointer,
        hint=f"store numbers: {', '.join(DTYPES)}",
    )

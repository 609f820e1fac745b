"""What was asked, read from the request that was sent.

An answer holds its request, as bytes that nobody changes; so the values in it are those that the
derivatives are at, whatever has been done to the arrays since.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx
import numpy as np

from gradwire import codec
from gradwire.ragged import RaggedArray
from gradwire.sparse import SparseArray
from gradwire.trees import MISSING, NONFINITE, lookup


@dataclass(frozen=True, slots=True)
class Asked:
    """The document of a request, empty where there was none; its arrays are NumPy's."""

    document: Mapping[str, Any]

    @classmethod
    def of(cls, response: httpx.Response) -> Asked:
        """What a response answers."""
        try:
            content = response.request.content
        except (RuntimeError, httpx.RequestNotRead):  # made by hand, or streamed
            return cls({})
        media_type = response.request.headers.get("Content-Type", "")
        document = codec.decode(content, media_type) if content else {}
        return cls(document if isinstance(document, Mapping) else {})

    @property
    def source(self) -> str | None:
        """The program's text, if it was sent as such."""
        program = self.document.get("program")
        return program if isinstance(program, str) else None

    def names(self, member: str) -> Any:
        """The names that a part of the answer was asked for by; ``MISSING`` without any."""
        names = self.document.get(member)
        return MISSING if names is None else names

    def variable(self, path: str) -> Any:
        """The value of the variable at a path; ``MISSING`` where it is not in the request."""
        variables = self.document.get("variables")
        found = lookup(variables, path) if variables and path else MISSING
        return MISSING if found is MISSING else value_of(found)


def value_of(document: Any) -> Any:
    """What a leaf of a request stands for; ``MISSING`` where it cannot be told from it."""
    if not isinstance(document, Mapping):
        return _array(document)
    if "indices" in document and "values" in document:
        return _in_parts(SparseArray, document, "indices", tuple(document["shape"]))
    if "row_splits" in document and "values" in document:
        return _in_parts(RaggedArray, document, "row_splits")
    dtype = document.get("dtype")
    if "re" in document and "im" in document:
        real = _array(document["re"])
        array = np.empty(np.shape(real), dtype or np.complex128)
        array.real, array.imag = real, _array(document["im"])  # 1j * inf would be NaN beside
        return array
    if "value" not in document:
        return MISSING  # a reference, or a nesting level
    return _array(document["value"], dtype)


def _in_parts(kind: type, document: Mapping[str, Any], places: str, *further: Any) -> Any:
    values, at = value_of(document["values"]), value_of(document[places])
    if values is MISSING or at is MISSING:
        return MISSING
    at = at.astype(np.int64)
    return kind(values, at) if kind is RaggedArray else kind(at, values, *further)


def _array(document: Any, dtype: str | None = None) -> Any:
    """The array that JSON's numbers are, float64 where nothing else is said."""
    if isinstance(document, np.ndarray):
        return document
    if isinstance(document, str) and document not in NONFINITE:
        return document
    if dtype is not None:
        return np.asarray(document, dtype)
    array = np.asarray(document)
    # Without a dtype integers are float64, and so are the words NaN, Infinity and -Infinity.
    return array if array.dtype.kind in "bf" else np.asarray(document, np.float64)

"""The request behind an answer, decoded from the bytes that were sent.

An answer keeps its request as bytes, so its values are those at which the derivatives were
computed, even if the arrays have changed since.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import httpx
import numpy as np

from gradwire import codec
from gradwire.ragged import RaggedArray
from gradwire.residents import REFERENTS, Referents
from gradwire.sparse import SparseArray
from gradwire.trees import MISSING, NONFINITE, lookup

NO_REFERENTS = Referents({}, None)


@dataclass(frozen=True, slots=True)
class RequestView:
    """The document of a request, empty if it had none; its arrays are NumPy's."""

    document: Mapping[str, Any]
    #: The values behind its references, as far as the client knows them.
    named: Referents = NO_REFERENTS

    @classmethod
    def of(cls, response: httpx.Response) -> RequestView:
        """The request of a response."""
        try:
            content = response.request.content
        except (RuntimeError, httpx.RequestNotRead):  # made by hand, or streamed
            return cls({})
        media_type = response.request.headers.get("Content-Type", "")
        document = codec.decode(content, media_type) if content else {}
        named = response.extensions.get(REFERENTS, NO_REFERENTS)
        return cls(document if isinstance(document, Mapping) else {}, named)

    @property
    def source(self) -> str | None:
        """The program's text, if it is known."""
        program = self.document.get("program")
        return program if isinstance(program, str) else self.named.source

    def names(self, member: str) -> Any:
        """The request's names of a part of the answer; ``MISSING`` without any."""
        names = self.document.get(member)
        return MISSING if names is None else names

    def variable(self, path: str) -> Any:
        """The value of the variable at a path; ``MISSING`` if unknown."""
        variables = self.document.get("variables")
        found = lookup(variables, path) if variables and path else MISSING
        try:
            return MISSING if found is MISSING else value_of(found, self.named.arrays)
        except ValueError:  # a nesting level
            return MISSING


def value_of(document: Any, arrays: Mapping[str, Any] = MappingProxyType({})) -> Any:
    """The value of a leaf of a request; ``MISSING`` if unknown."""
    if not isinstance(document, Mapping):
        return _array(document)
    if "ref" in document:
        found = arrays.get(document["ref"])
        return MISSING if found is None else found
    for kind, places in ((SparseArray, "indices"), (RaggedArray, "row_splits")):
        if places in document and "values" in document:
            values = value_of(document["values"], arrays)
            at = value_of(document[places], arrays)
            if values is MISSING or at is MISSING:
                return MISSING
            at = at.astype(np.int64)
            if kind is RaggedArray:
                return RaggedArray(values, at)
            return SparseArray(at, values, tuple(document["shape"]))
    dtype = document.get("dtype")
    if "re" in document and "im" in document:
        real = _array(document["re"])
        array = np.empty(np.shape(real), dtype or np.complex128)
        array.real, array.imag = real, _array(document["im"])  # 1j * inf would be NaN beside
        return array
    if "value" not in document:
        return MISSING  # a nesting level
    inner = document["value"]
    return value_of(inner, arrays) if isinstance(inner, Mapping) else _array(inner, dtype)


def _array(document: Any, dtype: str | None = None) -> Any:
    """The array of JSON's numbers, float64 by default."""
    if isinstance(document, np.ndarray):
        return document
    if isinstance(document, str) and document not in NONFINITE:
        return document
    if dtype is not None:
        return np.asarray(document, dtype)
    array = np.asarray(document)
    # Without a dtype integers are float64, and so are the words NaN, Infinity and -Infinity.
    return array if array.dtype.kind in "bf" else np.asarray(document, np.float64)

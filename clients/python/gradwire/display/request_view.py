"""The request behind an answer, decoded from the bytes that were sent.

An answer keeps its request as bytes, so its values are those at which the derivatives were
computed, even if the arrays have changed since.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx
import numpy as np

from gradwire import codec
from gradwire.ragged import RaggedArray
from gradwire.residents import REFERENTS, Referents
from gradwire.sparse import SparseArray
from gradwire.trees import MISSING, is_list, lookup

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
        """The value of the variable at a path; ``MISSING`` if unknown, or a nesting level.

        Examples of a batch are along its first axis, as they are in the answer.
        """
        variables, batch = self.document.get("variables"), self.document.get("batch")
        value = self._value(lookup(variables, path)) if variables and path else MISSING
        axes = batch.items() if isinstance(batch, Mapping) else ()
        axis = next((axis for name, axis in axes if f"{path}.".startswith(f"{name}.")), 0)
        return np.moveaxis(value, axis, 0) if axis and isinstance(value, np.ndarray) else value

    def _value(self, document: Any) -> Any:
        """The value of a leaf as the client writes it: an array, a number, text, or members."""
        if not isinstance(document, Mapping):
            return MISSING if is_list(document) else document
        if "ref" in document:
            found = self.named.arrays.get(document["ref"])
            return MISSING if found is None else found
        if "values" not in document:
            return self._value(document.get("value", MISSING))
        values = self._value(document["values"])
        places = self._value(document.get("indices", document.get("row_splits", MISSING)))
        if values is MISSING or places is MISSING:
            return MISSING
        if "indices" not in document:
            return RaggedArray(values, places)
        return SparseArray(places, values, tuple(document["shape"]))

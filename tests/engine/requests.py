"""The last query of an engine, as the request that asks a service the same."""

from __future__ import annotations

import base64
import json
import tempfile
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from gradwire_engine import Engine, Leaf, Query
from gradwire_engine.compile.derivatives import VECTORS
from gradwire_engine.ops.composites import Composite

#: Longer ones are left in a file.
_LONGEST = 4000


class LastRequest:
    """Hears of what engines parse and are asked."""

    def __init__(self) -> None:
        self._asked: tuple[Any, Mapping[str, Any], Query, Any] | None = None
        self._sources: dict[str, Any] = {}

    def listen(self) -> None:
        """Hear of all engines from now on."""
        parse, call = Engine.parse, Engine.call

        def parsed(engine: Engine, source: Any, *args: Any) -> Any:
            program = parse(engine, source, *args)
            self._sources[program.id] = source
            return program

        def called(
            engine: Engine, program: Any, variables: Any, query: Query, vectors: Any = None
        ) -> Any:
            source = self._sources.get(program.id)
            self._asked = source, _unheld(variables), query, _unheld(vectors)
            return call(engine, program, variables, query, vectors)

        setattr(Engine, "parse", parsed)  # noqa: B010 (mypy lets no method be assigned)
        setattr(Engine, "call", called)  # noqa: B010

    def forget(self) -> None:
        """Forget what was asked."""
        self._asked = None
        self._sources.clear()

    def document(self) -> tuple[str, dict[str, Any]] | None:
        """The path that it is sent to, and its body."""
        if self._asked is None or self._asked[0] is None:
            return None
        source, variables, query, vectors = self._asked
        body = {"program": source, "variables": _written(variables)}
        for field, default in Query._field_defaults.items():
            if getattr(query, field) != default:
                body[field] = getattr(query, field)
        if vectors is not None:
            body[VECTORS[query.kind]] = _written(vectors)
        return f"/v1/{query.kind}", body

    def __str__(self) -> str:
        asked = self.document()
        if asked is None:
            return ""
        path, document = asked
        body = json.dumps(document)
        if len(body) > _LONGEST:
            with tempfile.NamedTemporaryFile("w", suffix=".json", delete=False) as file:
                file.write(body)
            body = f"@{Path(file.name)}"
        body = body.replace("'", "'\\''")
        url = f"127.0.0.1:8000{path}"
        return f"curl -s {url} -H 'Content-Type: application/json' -d '{body}'"


def _unheld(nested: Any) -> Any:
    """The same, whose arrays may be freed: some tests look whether they are."""
    if isinstance(nested, Composite):
        return nested.of(**{name: _unheld(item) for name, item in nested.items()})
    if isinstance(nested, Mapping):
        return {key: _unheld(item) for key, item in nested.items()}
    if isinstance(nested, Leaf):
        return nested._replace(value=_unheld(nested.value))
    if isinstance(nested, list | tuple):
        return [_unheld(item) for item in nested]
    return weakref.ref(nested) if isinstance(nested, np.ndarray) else nested


def _written(nested: Any) -> Any:
    if isinstance(nested, weakref.ref):
        found = nested()
        return _written(found) if found is not None else {"freed": True}
    if isinstance(nested, Composite):
        return {"shape": list(nested.shape), **{k: _written(v) for k, v in nested.items()}}
    if isinstance(nested, Mapping):
        return {key: _written(item) for key, item in nested.items()}
    if isinstance(nested, Leaf):
        if isinstance(nested.value, str):
            return nested.value
        leaf = _written(nested.value)
        return leaf if nested.trainable else leaf | {"trainable": False}
    if isinstance(nested, np.ndarray | np.generic):
        array = np.asarray(nested)
        data = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
        return {"dtype": array.dtype.name, "shape": list(array.shape), "base64": data}
    if isinstance(nested, list | tuple):
        return [_written(item) for item in nested]
    return nested


LAST = LastRequest()

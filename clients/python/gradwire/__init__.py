"""Gradients of programs, computed by a Gradwire service.

>>> client = gradwire.Client()
>>> answer = client.gradient("mean((tanh(x @ w) - y)**2)", {"w": w, "x": x, "y": y}, sources="w")
>>> answer.value, answer.gradients

>>> @gradwire.function
... def loss(w, x, y):
...     return np.mean((np.tanh(x @ w) - y) ** 2)
>>> gradwire.value_and_grad(loss)(w, x, y)
"""

from __future__ import annotations

import sys
from importlib import import_module
from pkgutil import extend_path, get_data
from typing import Any, cast

from gradwire import hooks
from gradwire.distributions import InstallHintFinder

# gradwire.tf and gradwire.tfe are a distribution of their own, perhaps in another folder.
__path__ = extend_path(__path__, __name__)
sys.meta_path.append(InstallHintFinder())

try:
    _STUB = (get_data(__name__, "__init__.pyi") or b"").decode()
except OSError as error:
    raise ImportError("gradwire/__init__.pyi is missing: install gradwire again") from error
#: The module of each public name, which is imported when the name is first used: what the stub,
#: which type checkers read, imports from there.
_MODULES: dict[str, str] = {
    words[3]: words[1] for words in map(str.split, _STUB.splitlines()) if words[:1] == ["from"]
}
__all__ = [*sorted(_MODULES)]  # noqa: PLE0604 - names


def _display() -> hooks.Display:
    return cast("hooks.Display", import_module("gradwire.display.facade"))


def _default_client() -> Any:
    return import_module("gradwire.defaults").default_client()


hooks.display = _display
hooks.default_client = _default_client


def __getattr__(name: str) -> Any:
    """Import a public name, or a module with public names, on first use."""
    if name in _MODULES:
        value = getattr(import_module(_MODULES[name]), name)
    elif name == "adapters" or f"{__name__}.{name}" in _MODULES.values():
        value = import_module(f"{__name__}.{name}")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})

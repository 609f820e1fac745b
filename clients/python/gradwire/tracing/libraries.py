"""The libraries whose functions have substitutes while something is recorded.

Of those that have been imported, that is; none is imported here.
"""

from __future__ import annotations

import io
import sys
import threading
from functools import lru_cache
from types import MethodType, ModuleType
from typing import Any

import numpy as np

from gradwire.tracing import numpy_substitutes, scipy_substitutes
from gradwire.tracing.classes import SUBSTITUTES
from gradwire.tracing.number_classes import class_for
from gradwire.tracing.patching import Binding, MethodByContext, Patch, aware
from gradwire.tracing.substitutes import substitute

#: Modules of SciPy whose public functions are recorded by their names.
SCIPY = (
    "scipy.linalg", "scipy.special", "scipy.fft", "scipy.signal", "scipy.integrate",
    "scipy.ndimage", "scipy.interpolate", "scipy.optimize", "scipy.spatial",
    "scipy.spatial.distance", "scipy.stats", "scipy.sparse", "scipy.sparse.linalg",
)  # fmt: skip

_CACHED: Any = type(lru_cache(len))


class _Libraries:
    """The substitutes of functions of the libraries that are loaded."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: set[str] = set()
        #: By the id of the original, which they keep.
        self.functions: dict[int, tuple[Any, Any]] = {}
        self.methods: dict[int, tuple[Any, Any]] = {}
        self.patches: list[Patch] = []

    def refresh(self) -> None:
        """Add libraries that have been loaded since."""
        with self._lock:
            if not self._known:
                self._add_functions([io], SUBSTITUTES)
                self._add_functions([np, np.linalg], numpy_substitutes.functions())
                self._add_methods(numpy_substitutes.methods())
            for name in ("math", *SCIPY):
                module = sys.modules.get(name)
                if name in self._known or module is None or _is_importing(module):
                    continue
                self._known.add(name)
                self._add_functions([module], scipy_substitutes.functions(name, module))
                self._add_methods(scipy_substitutes.methods(name, module))

    def _add_functions(self, modules: list[ModuleType], found: Any) -> None:
        self.functions.update({id(original): (original, own) for original, own in found})
        for module in modules:
            kind: type[ModuleType] = type(module)
            self.patches.append(Patch(Binding(module, "__class__"), kind, aware(kind, _function)))

    def _add_methods(self, found: Any) -> None:
        for kind, name, own in found:
            original = vars(kind)[name]
            self.methods[id(original)] = original, own
            by_context = MethodByContext(original, own)
            self.patches.append(Patch(Binding(kind, name), original, by_context))


def _is_importing(module: ModuleType) -> bool:
    """True if another thread is importing it: it has some of its functions only."""
    return bool(getattr(module.__spec__, "_initializing", False))


_LIBRARIES = _Libraries()


def loaded_patches() -> list[Patch]:
    """The patches of the loaded libraries' modules and classes."""
    _LIBRARIES.refresh()
    return _LIBRARIES.patches


def substitute_of(value: Any) -> Any:
    """The substitute of a function, or bound method, that the user's code has by name, or none."""
    _LIBRARIES.refresh()
    if type(value) is MethodType:
        held = _LIBRARIES.methods.get(id(value.__func__))
        cached = type(value.__func__) is _CACHED
        method = substitute_of(value.__func__) if cached else held and held[1]
        return None if method is None else MethodType(method, value.__self__)
    if isinstance(value, _CACHED):  # recorded values have no hash
        return substitute(value, value.__wrapped__)
    return _function(value)


def _function(value: Any) -> Any:
    known = _LIBRARIES.functions.get(id(value))
    return class_for(value) if known is None else known[1]

"""Records the public names of CuPy and how they are called in ``names.json``, beside this.

    python tests/engine/gpu/cupy/record_names.py

It needs a wheel of CuPy (``pip install cupy-cuda13x scipy``), and neither CUDA nor a GPU: what CuPy
calls of CUDA's libraries is not there, and is not called.
"""

import importlib
import inspect
import json
import sys
import types
from operator import attrgetter
from pathlib import Path
from typing import Any

#: Of this module one function is called.
_SIGNAL = "cupyx.scipy.signal"
#: Modules whose names are recorded.
MODULES = (
    "cupy",
    "cupy.fft",
    "cupy.linalg",
    "cupy.lib.stride_tricks",
    "cupyx",
    "cupyx.scipy.linalg",
    _SIGNAL,
    "cupyx.scipy.special",
)
#: Classes and modules of CUDA whose members are recorded.
CUDA = (
    "Device",
    "Event",
    "Graph",
    "MemoryPointer",
    "MemoryPool",
    "PinnedMemoryPointer",
    "Stream",
    "device",
    "driver",
    "function",
    "function.Module",
    "memory",
    "runtime",
)
#: CUDA's libraries, which CuPy loads when one of its modules is imported.
LIBRARIES = "cublas", "cufft", "curand", "cusolver", "cusparse"
#: How the kinds of parameters are written before their names.
_KINDS = {
    inspect.Parameter.POSITIONAL_ONLY: "/",
    inspect.Parameter.POSITIONAL_OR_KEYWORD: "",
    inspect.Parameter.VAR_POSITIONAL: "*",
    inspect.Parameter.KEYWORD_ONLY: ":",
    inspect.Parameter.VAR_KEYWORD: "**",
}


class Library(types.ModuleType):
    """A library of which each function can be named."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: None


def without_libraries() -> None:
    """Let CuPy be imported where CUDA's libraries are not."""
    importlib.import_module("cupy")  # it loads none of them
    package = importlib.import_module("cupy_backends.cuda.libs")
    for name in LIBRARIES:
        library = Library(f"{package.__name__}.{name}")
        sys.modules[library.__name__] = library
        setattr(package, name, library)


def described(found: Any) -> Any:
    """A ufunc by its types, a function by its parameters, anything else by its kind."""
    import cupy

    if isinstance(found, cupy.ufunc):
        return {"types": " ".join(dict.fromkeys(found.types))}
    if inspect.isclass(found):
        return {}
    if not callable(found):
        return {}
    try:
        parameters = inspect.signature(found).parameters.values()
    except (TypeError, ValueError):
        return {"parameters": None}
    return {"parameters": " ".join([_written(p) for p in parameters])}


def _written(parameter: inspect.Parameter) -> str:
    return f"{_KINDS[parameter.kind]}{parameter.name}" + "?" * (
        parameter.default is not inspect.Parameter.empty
    )


def _public(owner: Any) -> list[str]:
    return [name for name in dir(owner) if not name.startswith("_")]


def names() -> dict[str, Any]:
    """What is recorded."""
    without_libraries()
    import cupy

    found: dict[str, Any] = {"version": cupy.__version__}
    for name in MODULES:
        module = importlib.import_module(name)
        public = [key for key in sorted(dir(module)) if not key.startswith("_")]
        values = [(key, getattr(module, key)) for key in public if key != "annotations"]
        kept = [(key, value) for key, value in values if not inspect.ismodule(value)]
        found[name] = {
            key: described(value) for key, value in kept if name != _SIGNAL or key == "convolve"
        }
    found["ndarray"] = sorted(dir(cupy.ndarray))
    found["cuda"] = {"": _public(cupy.cuda)}
    found["cuda"] |= {name: _public(attrgetter(name)(cupy.cuda)) for name in CUDA}
    return found


if __name__ == "__main__":
    target = Path(__file__).with_name("names.json")
    target.write_text(json.dumps(names(), indent=0) + "\n")

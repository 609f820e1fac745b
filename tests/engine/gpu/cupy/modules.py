"""CuPy's modules with the names, parameters and dtypes that were recorded, computed by NumPy."""

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import cache
from inspect import Parameter, Signature
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import scipy.linalg
import scipy.signal
import scipy.sparse
import scipy.special

from tests.engine.gpu.cupy.double import (
    CHANGING,
    NOTES,
    RECORDED,
    WAITING,
    Array,
    Current,
    values,
    waits,
)

#: What computes the names of each module.
COMPUTED_BY = {
    "cupy": np,
    "cupy.fft": np.fft,
    "cupy.linalg": np.linalg,
    "cupy.lib.stride_tricks": np.lib.stride_tricks,
    "cupyx.scipy.linalg": scipy.linalg,
    "cupyx.scipy.signal": scipy.signal,
    "cupyx.scipy.special": scipy.special,
}
#: The ufuncs that CuPy reduces and accumulates with; others have the methods, which raise.
ACCUMULATED = {"add": "sum", "multiply": "prod"}
#: Dtypes that CUDA adds and compares atomically.
ATOMIC = {"scatter_add": "ilILQefd", "scatter_max": "iILQfd", "scatter_min": "iILQfd"}
#: Functions that call cuBLAS, which CuPy refuses while a graph is captured.
CALLING = {"dot", "einsum", "matmul", "solve_triangular", "tensordot"}


def _power(x: Any, y: Any) -> Any:
    """CuPy raises integers to negative powers, too, with a result that says nothing."""
    kinds = [np.asarray(each).dtype.kind for each in (x, y)]
    return np.power(x, np.maximum(y, 0) if set(kinds) <= set("iu") else y)


def ufunc(name: str, types: str, compute: Any) -> Any:
    """A ufunc with these loops alone."""
    loops = [(t.split("->")[0], t.split("->")[1]) for t in types.split()]

    @cache
    def chosen(*kinds: Any) -> str | None:
        return next((o for i, o in loops if all(map(_fits, kinds, i))), None)

    def call(*args: Any, out: Any = None, dtype: Any = None) -> Any:
        count = len(loops[0][0])
        if len(args) > count:
            args, out = args[:count], args[count]
        given = [values(x) for x in args]
        arrays = [x.dtype for x in given if isinstance(x, np.ndarray | np.generic)]
        kinds = [
            x.dtype
            if isinstance(x, np.ndarray | np.generic)
            else np.result_type(x, *arrays)
            if arrays
            else np.result_type(x)
            for x in given
        ]
        loop = chosen(*kinds)
        if loop is None:
            raise TypeError(f"{name} has no loop for {kinds}")
        if compute is None:
            raise NotImplementedError(f"NumPy and SciPy have no {name}")

        def computed() -> Any:
            pairs = zip(_parts(compute(*given)), loop, strict=True)
            parts = [np.asarray(part).astype(char) for part, char in pairs]
            return tuple(parts) if len(parts) > 1 else parts[0]

        if out is None:
            return Current.device.result(computed)
        Current.device.change(lambda: np.copyto(out.on_device, computed(), "unsafe"))
        return out

    def refuse(*_: Any, **__: Any) -> Any:
        raise NotImplementedError(f"`{name}.at` is not supported yet")

    def method(kind: str) -> Any:
        def run(x: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
            given = values(x)
            return Current.device.result(lambda: getattr(getattr(np, name), kind)(given, axis))

        return run if name in ACCUMULATED else refuse

    call.__name__ = name
    call.at, call.reduce, call.accumulate = refuse, method("reduce"), method("accumulate")  # type: ignore[attr-defined]
    return call


def _parts(z: Any) -> tuple[Any, ...]:
    return z if isinstance(z, tuple) else (z,)


def _fits(kind: Any, char: str) -> bool:
    return np.can_cast(kind, np.dtype(char), "safe")


#: How the kinds of parameters are written before their names.
_KINDS = {
    "**": Parameter.VAR_KEYWORD,
    "*": Parameter.VAR_POSITIONAL,
    ":": Parameter.KEYWORD_ONLY,
    "/": Parameter.POSITIONAL_ONLY,
    "": Parameter.POSITIONAL_OR_KEYWORD,
}


def _parameters(written: str) -> list[Parameter]:
    found = []
    for each in written.split():
        sign, kind = next((s, k) for s, k in _KINDS.items() if each.startswith(s))
        default = None if each.endswith("?") else Parameter.empty
        found.append(Parameter(each.removeprefix(sign).rstrip("?"), kind, default=default))
    return found


def function(module: str, name: str, parameters: Any, compute: Any) -> Any:
    """A function with these parameters alone."""
    signature = None if parameters is None else Signature(_parameters(parameters))

    def call(*args: Any, **options: Any) -> Any:
        if signature is not None:
            signature.bind(*args, **options)
        if name in WAITING or module == "cupy.linalg":
            waits(name)
        if name in CALLING:
            NOTES.found.add(f"calls cuBLAS for {name}")
        if compute is None or (name == "spherical_yn" and values(args[1]).dtype.kind == "c"):
            raise NotImplementedError(f"there is no {module}.{name} of {args}")
        if name == "where" and isinstance(args[0], bool):
            raise AttributeError("'bool' object has no attribute 'astype'")
        given = [values(x) for x in args], {key: values(x) for key, x in options.items()}
        if name in CHANGING:
            return Current.device.change(lambda: compute(*given[0], **given[1]))
        return Current.device.result(lambda: compute(*given[0], **given[1]))

    call.__name__ = name
    return call


def _copying(name: str) -> Any:
    """``asarray`` and ``array``, which copy what is on the host."""

    def call(x: Any, dtype: Any = None, copy: Any = None, order: Any = "K", **_: Any) -> Any:
        if not isinstance(x, Array) and not (
            isinstance(x, list | tuple) and x and all(isinstance(item, Array) for item in x)
        ):
            NOTES.found.add(f"copies to the device by {name}")
            held = np.array(x, dtype)
            return Current.device.result(held.copy)
        if not isinstance(x, Array):
            NOTES.found.add("puts a list of arrays together")
        if (
            isinstance(x, Array)
            and x.on_device.dtype.kind == "c"
            and np.dtype(dtype or "D").kind == "f"
        ):
            raise TypeError("a complex array is not converted to real numbers")
        given = values(x)
        return Current.device.result(lambda: getattr(np, name)(given, dtype))

    return call


def _scatter(name: str, compute: Any) -> Any:
    def call(a: Array, slices: Any, value: Any) -> None:
        if a.on_device.dtype.char not in ATOMIC[name]:
            raise TypeError(f"{name} does not take {a.dtype}")
        place, given = values(slices), values(value)
        Current.device.change(lambda: compute.at(a.on_device, place, given))

    return call


def module(name: str) -> ModuleType:
    """A module of the recorded names."""
    made, by = ModuleType(name), COMPUTED_BY.get(name)
    made.__path__ = []
    for key, entry in RECORDED.get(name, {}).items():
        compute = _power if (name, key) == ("cupy", "power") else getattr(by, key, None)
        if "types" in entry:
            found = ufunc(key, entry["types"], compute)
        elif "parameters" in entry:
            found = function(name, key, entry["parameters"], compute)
        else:
            found = compute
        setattr(made, key, found)
    return made


def _errstate(**_: Any) -> Any:
    return nullcontext()


PATCHED: dict[str, dict[str, Any]] = {
    "cupy": {
        "ndarray": Array,
        "array": _copying("array"),
        "asarray": _copying("asarray"),
        **{n: getattr(np, n) for n in ("broadcast_shapes", "result_type", "finfo", "iinfo")},
        **{n: getattr(np, n) for n in ("dtype", "ndindex", "can_cast", "promote_types")},
        "shape": lambda x: np.shape(values(x)),
        "ndim": lambda x: np.ndim(values(x)),
        "result_type": lambda *args: np.result_type(*map(values, args)),
    },
    "cupy.fft": {"config": SimpleNamespace(get_plan_cache=list)},
    "cupyx": {
        "errstate": _errstate,
        "scatter_add": _scatter("scatter_add", np.add),
        "scatter_max": _scatter("scatter_max", np.maximum),
        "scatter_min": _scatter("scatter_min", np.minimum),
    },
}
OURS = [f"gradwire_gpu.cupy.{n}" for n in ("elementwise", "indexing", "kernels", "linalg")]


@contextmanager
def doubled() -> Iterator[Any]:
    """CuPy's modules replaced by doubles; gives the namespace ``xp`` upon them."""
    from gradwire_gpu.cupy import namespace

    names = [n for n in RECORDED if n.startswith("cupy")] + ["cupy.lib", "cupyx.scipy"]
    kept = {n: sys.modules.pop(n, None) for n in [*names, *OURS]}
    made = {n: module(n) for n in names}
    for name, patches in PATCHED.items():
        for key, value in patches.items():
            setattr(made[name], key, value)
    for name in sorted(made):
        sys.modules[name] = made[name]
        parent, _, own = name.rpartition(".")
        if parent:
            setattr(made[parent], own, made[name])
    namespace.namespace.cache_clear()
    try:
        yield namespace.namespace()
    finally:
        namespace.namespace.cache_clear()
        for name, before in kept.items():
            sys.modules.pop(name, None)
            if before is not None:
                sys.modules[name] = before
        package = importlib.import_module("gradwire_gpu.cupy")
        for name in OURS:
            vars(package).pop(name.rpartition(".")[2], None)

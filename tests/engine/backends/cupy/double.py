"""CuPy as far as it can be without a GPU: its names, parameters and dtypes, computed by NumPy.

What CuPy 14.2 refuses is refused: names that it has not, arguments that its functions do not take,
dtypes for which its ufuncs have no loop, arrays of NumPy's. What makes the host wait for the
device, or copies from it, is noted. The values are NumPy's, so they say nothing of CuPy's.
"""

import importlib
import json
import operator
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from inspect import Parameter, Signature
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import scipy.linalg
import scipy.signal
import scipy.sparse
import scipy.special

RECORDED = json.loads(Path(__file__).with_name("names.json").read_text())
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
#: Functions for whose results the host waits, or that CUDA's libraries do not let be captured.
WAITING = {"argsort", "nonzero", "sort", "unique"}
#: Functions that call cuBLAS, which CuPy refuses while a graph is captured.
CALLING = {"dot", "einsum", "matmul", "solve_triangular", "tensordot"}


class Notes:
    """What a kernel has done that a captured graph cannot do again."""

    def __init__(self) -> None:
        self.found: set[str] = set()


NOTES = Notes()


class Array:
    """An array on the device."""

    __array_priority__ = 100

    def __init__(self, values: Any) -> None:
        self.on_device = np.asarray(values)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name not in RECORDED["ndarray"]:
            raise AttributeError(f"CuPy's arrays have no {name}")
        found = getattr(self.on_device, name)
        if not callable(found):
            return on_device(found)
        if name in WAITING | {"get", "item", "tolist", "tobytes"}:
            NOTES.found.add(f"waits for {name}")

        def method(*args: Any, **options: Any) -> Any:
            return on_device(
                found(*map(values, args), **{k: values(v) for k, v in options.items()})
            )

        return method

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("real", "imag"):
            setattr(self.on_device, name, values(value))
        else:
            object.__setattr__(self, name, value)

    def __getitem__(self, index: Any) -> Any:
        return on_device(self.on_device[values(index)])

    def __setitem__(self, index: Any, value: Any) -> None:
        self.on_device[values(index)] = values(value)

    def __len__(self) -> int:
        return len(self.on_device)

    def __iter__(self) -> Iterator[Any]:
        return map(on_device, self.on_device)

    def __array__(self, *args: Any) -> Any:
        raise TypeError("Implicit conversion to a NumPy array is not allowed")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__" or any(isinstance(x, np.ndarray) for x in inputs):
            return NotImplemented
        return getattr(sys.modules["cupy"], ufunc.__name__)(*inputs, **options)

    def __array_function__(self, function: Any, *_: Any) -> Any:
        raise TypeError(f"NumPy's {function.__name__} got an array on the device")


def _waiting(convert: Callable[[Any], Any]) -> Callable[[Array], Any]:
    def wait(x: Array) -> Any:
        NOTES.found.add(f"waits for {convert.__name__}")
        return convert(x.on_device)

    return wait


for _convert in (bool, int, float, complex, operator.index):
    setattr(Array, f"__{_convert.__name__}__", _waiting(_convert))

_BINARY = (
    "add:add sub:subtract mul:multiply matmul:matmul truediv:true_divide floordiv:floor_divide "
    "mod:remainder pow:power and:bitwise_and or:bitwise_or xor:bitwise_xor lshift:left_shift "
    "rshift:right_shift lt:less le:less_equal gt:greater ge:greater_equal eq:equal ne:not_equal"
)
OPERATORS = dict(pair.split(":") for pair in _BINARY.split())
UNARY = {"neg": "negative", "pos": "positive", "abs": "absolute", "invert": "invert"}


def _operator(name: str, *, turned: bool = False, in_place: bool = False) -> Callable[..., Any]:
    def compute(x: Array, y: Any) -> Any:
        if isinstance(y, np.ndarray):
            raise TypeError("Unsupported type numpy.ndarray")
        function = getattr(sys.modules["cupy"], name)
        z = function(y, x) if turned else function(x, y)
        if not in_place:
            return z
        if not np.can_cast(z.on_device.dtype, x.on_device.dtype, "same_kind"):
            raise TypeError(f"{z.dtype} is not written into {x.dtype}")
        x.on_device[...] = z.on_device
        return x

    return compute


for _method, _name in OPERATORS.items():
    setattr(Array, f"__{_method}__", _operator(_name))
    setattr(Array, f"__r{_method}__", _operator(_name, turned=True))
    setattr(Array, f"__i{_method}__", _operator(_name, in_place=True))
for _method, _name in UNARY.items():
    setattr(Array, f"__{_method}__", lambda x, name=_name: getattr(sys.modules["cupy"], name)(x))
Array.__hash__ = None  # type: ignore[method-assign, assignment]


def values(x: Any) -> Any:
    """NumPy's arrays for arrays on the device; others are refused."""
    if isinstance(x, Array):
        return x.on_device
    if isinstance(x, np.ndarray):
        raise TypeError("Unsupported type numpy.ndarray")
    if isinstance(x, list | tuple) and not hasattr(x, "_fields"):
        return type(x)([values(item) for item in x])
    return x


def on_device(x: Any) -> Any:
    """Arrays on the device for NumPy's arrays and numbers."""
    if isinstance(x, np.ndarray | np.generic):
        return Array(x)
    if isinstance(x, list | tuple):
        items = [on_device(item) for item in x]
        return items if isinstance(x, list) else tuple(items)
    return x


def ufunc(name: str, types: str, compute: Any) -> Any:
    """A ufunc with these loops alone."""
    loops = [(t.split("->")[0], t.split("->")[1]) for t in types.split()]

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
        loop = next((o for i, o in loops if all(map(_fits, kinds, i))), None)
        if loop is None:
            raise TypeError(f"{name} has no loop for {kinds}")
        if compute is None:
            raise NotImplementedError(f"NumPy and SciPy have no {name}")
        z = compute(*given)
        parts = [np.asarray(part).astype(char) for part, char in zip(_parts(z), loop, strict=True)]
        if out is None:
            return on_device(tuple(parts) if len(parts) > 1 else parts[0])
        out.on_device[...] = parts[0]
        return out

    def refuse(*_: Any, **__: Any) -> Any:
        raise NotImplementedError(f"`{name}.at` is not supported yet")

    def method(kind: str) -> Any:
        def run(x: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
            return on_device(getattr(getattr(np, name), kind)(values(x), axis))

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
            NOTES.found.add(f"waits for {name}")
        if name in CALLING:
            NOTES.found.add(f"calls cuBLAS for {name}")
        if compute is None or (name == "spherical_yn" and values(args[1]).dtype.kind == "c"):
            raise NotImplementedError(f"there is no {module}.{name} of {args}")
        given = {key: values(value) for key, value in options.items()}
        return on_device(compute(*map(values, args), **given))

    call.__name__ = name
    return call


def _copying(name: str) -> Any:
    """``asarray`` and ``array``, which copy what is on the host."""

    def call(x: Any, dtype: Any = None, copy: Any = None, order: Any = "K", **_: Any) -> Any:
        if not isinstance(x, Array) and not (
            isinstance(x, list | tuple) and x and all(isinstance(item, Array) for item in x)
        ):
            NOTES.found.add(f"copies to the device by {name}")
            return Array(np.array(x, dtype))
        if not isinstance(x, Array):
            NOTES.found.add("puts a list of arrays together")
        if (
            isinstance(x, Array)
            and x.on_device.dtype.kind == "c"
            and np.dtype(dtype or "D").kind == "f"
        ):
            raise TypeError("a complex array is not converted to real numbers")
        return Array(getattr(np, name)(values(x), dtype))

    return call


def _scatter(name: str, compute: Any) -> Any:
    def call(a: Array, slices: Any, value: Any) -> None:
        if a.on_device.dtype.char not in ATOMIC[name]:
            raise TypeError(f"{name} does not take {a.dtype}")
        compute.at(a.on_device, values(slices), values(value))

    return call


def module(name: str) -> ModuleType:
    """A module of the recorded names."""
    made, by = ModuleType(name), COMPUTED_BY.get(name)
    made.__path__ = []
    for key, entry in RECORDED.get(name, {}).items():
        compute = getattr(by, key, None)
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
    "cupyx": {
        "errstate": _errstate,
        "scatter_add": _scatter("scatter_add", np.add),
        "scatter_max": _scatter("scatter_max", np.maximum),
        "scatter_min": _scatter("scatter_min", np.minimum),
    },
}
OURS = [
    f"gradwire_engine.backends.cupy.{n}" for n in ("elementwise", "indexing", "kernels", "linalg")
]


@contextmanager
def doubled() -> Iterator[Any]:
    """CuPy's modules replaced by doubles; gives the namespace ``xp`` upon them."""
    from gradwire_engine.backends.cupy import namespace

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
        package = importlib.import_module("gradwire_engine.backends.cupy")
        for name in OURS:
            vars(package).pop(name.rpartition(".")[2], None)

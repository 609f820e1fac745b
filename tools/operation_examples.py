"""One line of code for each operation, with the value that the engine gives for it.

The lines come from the tests, which have samples of each function, and expressions in other
libraries' names whose values these libraries gave; ``operation_lines.txt`` has the others.
"""

from __future__ import annotations

import contextlib
import inspect
import itertools
import json
import re
import runpy
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from gradwire_engine import Engine, Query, catalogue
from gradwire_engine.dialects.scipy import SCIPY
from gradwire_engine.errors import EngineError
from gradwire_engine.ops.base import FUNCTIONS

_TESTS = Path(__file__).parents[1] / "tests" / "engine"
#: Lines and values of up to this length are taken as they are; the longest that are shown.
_SHORT, _LONGEST = 64, 150
#: How the arrays of a sample are made smaller, in the order of preference.
_SMALLER: list[Callable[[Any], Any]] = [
    lambda x: x,
    lambda x: x.reshape(-1, *x.shape[-2:])[0] if x.ndim > 2 else x,
    lambda x: x[(slice(0, 2),) * x.ndim],
    lambda x: x.ravel()[:3],
    lambda x: x.ravel()[0],
]
#: Arguments of SciPy's distributions by parameter.
_ARGUMENTS: dict[str, Any] = {"x": [0.5, 0.8], "q": [0.2, 0.5], "k": [1.0, 2.0]}
_ARGUMENTS |= {"a": 1.7, "b": 2.6, "df": 3.5, "beta": 1.6, "kappa": 0.8, "c": 0.4}
_ARGUMENTS |= {"s": 0.7, "n": 5.0, "p": 0.3, "mu": 2.2}


class Unwritten(Exception):
    """A value that a line of code cannot have."""


def examples() -> dict[str, tuple[str, str]]:
    """Lines and their values, by the name of the operation.

    Raises ``LookupError`` with the names of the operations that have no line.
    """
    engine = Engine()
    sampled = runpy.run_path(str(_TESTS / "ops/sampled.py"))["FUNCTIONS_SAMPLED"]
    recorded, written = _recorded(), written_out()
    found = {}
    for entry in catalogue():
        name = entry["name"]
        # Often a function of Gradwire's own has the same name.
        last = FUNCTIONS[same].name if (same := name.rpartition(".")[2]) in FUNCTIONS else ""
        lines = [
            *written.get(name, ()),
            *_of_samples(sampled.get(name, ())),
            *recorded.get(name, ()),
            *_of_laws(name),
            *_of_samples([replace(call, function=name) for call in sampled.get(last, ())]),
        ]
        best = _best(engine, lines)
        if best is not None:
            found[name] = best
    without = [entry["name"] for entry in catalogue() if entry["name"] not in found]
    if without:
        raise LookupError(f"no line of code in tools/operation_lines.txt: {', '.join(without)}")
    return found


def _best(engine: Engine, lines: list[str]) -> tuple[str, str] | None:
    """The first line that is short, with a short finite value; else the shortest."""
    longer: list[tuple[str, str]] = []
    for line in lines:
        if len(line) > _LONGEST:
            continue
        value = value_of(engine, line)
        if value is None or len(value) > _LONGEST or re.search(r"nan|inf|\[\]", value):
            continue
        single = re.search(r"\[\[[^,\[\]]+\]\]", line) is not None  # a matrix of one element
        if max(len(line), len(value)) <= _SHORT and re.search("[1-9]|True", value) and not single:
            return line, value
        longer.append((line, value))
    return min(longer, key=lambda pair: len(pair[0]) + len(pair[1]), default=None)


def value_of(engine: Engine, line: str) -> str | None:
    """The value of a line of code as the page shows it; None if it has none."""
    try:
        call = engine.call(engine.parse(line), {}, Query(kind="evaluate"))
        return _shown(call.replay(lambda: None).value)
    except (EngineError, Unwritten):
        return None


def _of_samples(calls: Any) -> Iterator[str]:
    for smaller in _SMALLER:
        for call in calls:
            try:
                arguments = [_written(x, smaller) for x in call.args]
                arguments += [f"{key}={_written(x, smaller)}" for key, x in call.kwargs.items()]
            except Unwritten:
                continue
            yield f"{call.function}({', '.join(arguments)})"


def written_out() -> dict[str, list[str]]:
    """The lines of ``operation_lines.txt`` by name."""
    found: dict[str, list[str]] = {}
    for line in Path(__file__).with_name("operation_lines.txt").read_text("utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        texts, choices = re.split(r"\{[\w. ]+\}", line), re.findall(r"\{([\w. ]+)\}", line)
        for chosen in itertools.product(*map(str.split, choices)):
            one = "".join(map("".join, itertools.zip_longest(texts, chosen, fillvalue="")))
            name, apart, text = one.partition(" : ")
            if not apart:
                name, text = name.partition("(")[0], name
            text = text.replace("NAME", name).replace("METHOD", name.rpartition(".")[2])
            found.setdefault(name, []).append(text)
    return found


def _recorded() -> dict[str, list[str]]:
    """Expressions in other libraries' names, by the function that is called first."""
    found: dict[str, list[str]] = {}
    for library in "jax", "tensorflow", "torch":
        for case in json.loads((_TESTS / f"recorded/{library}.json").read_text("utf-8")):
            called = re.match(r"[\w.]+(?=\()", case["text"])
            if called is None:
                continue
            values = {name: _unpacked(packed) for name, packed in case["variables"].items()}
            short = called[0].startswith(("lax.", "random."))
            lines = found.setdefault("jax." * short + called[0], [])
            for smaller in _SMALLER[:3]:
                with contextlib.suppress(Unwritten):
                    lines.append(_substituted(case["text"], values, smaller))
    return found


def _substituted(text: str, values: dict[str, Any], smaller: Callable[[Any], Any]) -> str:
    """An expression with literals for its variables; names of arguments remain."""
    literals = {name: _written(x, smaller) for name, x in values.items()}

    def literal(name: re.Match[str]) -> str:
        return literals.get(name[0], name[0])

    return re.sub(r"(?<![\w.])\w+(?![\w(=])(?!\s*=[^=])", literal, text)


def _unpacked(packed: dict[str, Any]) -> Any:
    dtype = np.dtype(packed["dtype"])
    parts = np.zeros(0, dtype).real.dtype
    return np.asarray(packed["data"], parts).view(dtype).reshape(packed["shape"])


def _of_laws(name: str) -> Iterator[str]:
    """A call of a function of SciPy's distributions with all that it needs."""
    if name in SCIPY.functions:
        parameters = [*inspect.signature(SCIPY.functions[name].record).parameters.values()][1:]
        needed = [p.name for p in parameters if p.default is p.empty]
        if needed and all(parameter in _ARGUMENTS for parameter in needed):
            yield f"{name}({', '.join(repr(_ARGUMENTS[parameter]) for parameter in needed)})"


def _written(x: Any, smaller: Callable[[Any], Any]) -> str:
    """An argument as a literal; numbers have two digits after the point."""
    if isinstance(x, np.ndarray):
        if x.dtype.kind not in "bifc" or x.size == 0:
            raise Unwritten
        return _listed(smaller(x))
    if isinstance(x, list | tuple):
        brackets = "[]" if isinstance(x, list) else "()"
        inner = ", ".join(_written(item, smaller) for item in x)
        return f"{brackets[0]}{inner}{',' * (brackets == '()' and len(x) == 1)}{brackets[1]}"
    if x is None or isinstance(x, bool | int | str):
        return repr(x)
    if isinstance(x, float | complex):
        return _listed(np.asarray(x))
    raise Unwritten


def _listed(x: Any) -> str:
    if x.ndim:
        return f"[{', '.join(map(_listed, x))}]"
    item = x.item()
    return repr(
        complex(*np.round([item.real, item.imag], 2))
        if isinstance(item, complex)
        else round(item, 2)
        if isinstance(item, float)
        else item
    )


def _shown(value: Any) -> str:
    """A value with four digits."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_shown, value))}]"
    if value is None or isinstance(value, str | dict):
        raise Unwritten
    array = np.asarray(value)
    if array.dtype == object:
        raise Unwritten
    if array.ndim:
        return f"[{', '.join(map(_shown, array))}]"
    item = array.item()
    if isinstance(item, complex):
        return repr(complex(float(f"{item.real:.4g}"), float(f"{item.imag:.4g}")))
    return repr(float(f"{item:.4g}") + 0.0) if isinstance(item, float) else repr(item)

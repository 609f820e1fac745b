"""Hints: what to write instead of names and notation of other languages and libraries."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from itertools import islice

#: Least similarity of a suggested name, and how many names are compared.
_ALIKE = 0.75
_COMPARED = 2000

_NO_DEVICE = "leave it out: the service chooses where programs run"
_GRADIENTS = "name the sources in the request, or write g = grad(y, x)"
_NO_INPUT = "send the data with the request, in variables"
#: Functions and constants of other languages, and what they are called here.
_RENAMED: Mapping[str, str] = {
    "arcsec": "arccos(1 / x)",
    "avg": "mean(x)",
    "cosine": "cos(x)",
    "cot": "1 / tan(x)",
    "cotan": "1 / tan(x)",
    "csc": "1 / sin(x)",
    "ctg": "1 / tan(x)",
    "determinant": "det(x)",
    "inverse": "inv(x)",
    "length": "len(x)",
    "lg": "log10(x)",
    "ln": "log(x)",
    "magnitude": "norm(x)",
    "mod": "x % y",
    "null": "None",
    "sec": "1 / cos(x)",
    "sgn": "sign(x)",
    "sqr": "sqrt(x), or x**2",
    "squareroot": "sqrt(x)",
    "tangent": "tan(x)",
    "tg": "tan(x)",
    "π": "pi",
}
#: Names that no program can have, and what to do instead.
_ABSENT: Mapping[str, str] = {
    "backward": _GRADIENTS,
    "block_until_ready": "leave it out: answers are complete",
    "device": _NO_DEVICE,
    "eval": "a program runs no text: write the expression itself",
    "exec": "a program runs no text: write the statements themselves",
    "input": _NO_INPUT,
    "grad_fn": _GRADIENTS,
    "numpy": "leave it out: arrays are NumPy's",
    "open": _NO_INPUT,
    "print": "name what you want to see in outputs",
    "random": "draws take a key: random.normal(key, shape)",
    "requires_grad": "leave it out: the request names the sources",
    "tolist": "leave it out: lists and arrays are used alike",
    "zero_grad": "leave it out: gradients do not accumulate",
}
#: Parameters, and fields of requests, of other libraries.
_PARAMETERS: Mapping[str, str] = {
    "args": "variables",
    "argnums": "sources",
    "code": "program",
    "data": "variables",
    "dim": "axis",
    "dims": "axis",
    "expression": "program",
    "formula": "program",
    "function": "program",
    "grad_outputs": "output_gradients",
    "in_axes": "batch",
    "inputs": "variables",
    "keep_dims": "keepdims",
    "keepdim": "keepdims",
    "params": "variables",
    "parameters": "variables",
    "point": "variables",
    "program_text": "program",
    "respect_to": "sources",
    "seed": "output_gradients",
    "text": "program",
    "timeout": "timeout_ms",
    "values": "variables",
    "vars": "variables",
    "with_respect_to": "sources",
    "wrt": "sources",
}
#: Parameters of other libraries that have no counterpart here.
_NEEDLESS: Mapping[str, str] = {
    "block_until_ready": "leave it out: answers are complete",
    "device": _NO_DEVICE,
    "inplace": "leave it out: functions return new arrays",
    "out": "leave it out: assign the result to a name",
    "pin_memory": _NO_DEVICE,
    "requires_grad": "leave it out: the request names the sources",
}
#: For sources and other names of requests that end in the number of an element.
OF_ELEMENTS = (
    "name the whole array and pick elements of its derivative, or send the elements as variables "
    "of their own"
)
OF_NAMED_ELEMENTS = "assign the element in the program, y0 = y[0], and name that"
#: For requests that exceed a limit.
OF_LIMITS = "use smaller arrays, or fewer examples at once; /v1/limits lists the limits"
#: For values that are not arrays where an array is needed, by what they are.
_OF_KINDS: Mapping[str, str] = {
    "None": "does a function end without return?",
    "a function": "call it: f(x)",
    "a nested variable": 'its members are written p.w or p["w"]',
    "a string": 'numbers are sent without quotes: 3, not "3"',
}
#: The notation that is meant by text that does not parse, by the line at which the parser stopped.
_NOTATION: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), hint)
    for pattern, hint in (
        (r"&&", "and is written as a word, or as & between arrays: (x > 0) & (x < 3)"),
        (r"\|\|[^|]*\|\|", "a norm is written norm(x)"),
        (r"\|\|", "or is written as a word, or as | between arrays: (x < 0) | (x > 3)"),
        (r"\?.*:", "a choice is written a if condition else b, or where(condition, a, b)"),
        (r"!(?!=)\s*[\w(]", "not is written as a word, or as ~ before an array"),
        (r"[\w)]!", "a factorial is written factorial(n)"),
        (r"<>", "unequal is written !="),
        (r"=[<>]", "at most is written <=, at least >="),
        (r":=", "an assignment is written with ="),
        (r"\+\+|--\s*$", "counting is written n += 1"),
        (r"^\s*(let|var|const|double|float|real|auto)\s+\w", "assign without a word before: y = x"),
        (r"^\s*(\w+)\([\w\s,]*\)\s*=[^=]", "a function is written def f(x): return x**2"),
        (r"\bfunction\b|\{\s*return\b", "a function is written def f(x): return x**2"),
        (r"\|\s*\w+\s*\|", "an absolute value is written abs(x)"),
        (r"[²³]", "a power is written x**2"),
        (r"√", "a root is written sqrt(x)"),
        (r"[×·∙⋅]", "multiplication is written with *"),
        (r"÷", "division is written with /"),
        (r"[−–—]", "this is a dash: minus is written with -"),
        (r"[“”„‘’]", "quotes are written with \" or '"),
        (r"[≤≥≠]", "comparisons are written with <=, >= and !="),
        (r"[\w)\]]'\s*[*@+)\-]|[\w)\]]'\s*$", "a transpose is written x.T"),
        (r"(?<![\w.])\d[\d.]*(?!e[-+\d]|[jJ]\b|0?[xXoObB]\d)[A-Za-z_(]", "is a * missing? 2 * x"),
        (r"\b\w+ mod \w+", "a remainder is written x % y"),
        (r"^(?!.*\b(?:if|else|for|while|in|def|lambda|with|and|or|not)\b)"
         r".*(?:[\d)\]]\s+[A-Za-z_(]|[A-Za-z_]\w*\s+[A-Za-z_]\w*\s*$)",
         "is an operator missing? multiplication is written with *, a call with (…)"),
    )
)  # fmt: skip


def for_name(name: str, known: Iterable[str]) -> str | None:
    """A hint at what is meant by an unknown name."""
    for part in name.split("."):
        if part in _ABSENT:
            return _ABSENT[part]
    if "[" in name:
        return OF_ELEMENTS
    if "," in name or "->" in name:
        return 'in a graph, strings are attrs: {"subscripts": "ij,jk->ik"}'
    meant = _RENAMED.get(name) or _RENAMED.get(name.lower())
    return f"did you mean {meant}?" if meant else like(name, known)


def for_attribute(name: str) -> str | None:
    """A hint at what to do without an attribute that other libraries' arrays have."""
    return _GRADIENTS if name == "grad" else _ABSENT.get(name)


def for_parameter(name: str, known: Iterable[str]) -> str | None:
    """A hint at the parameter, or the field of a request, that is meant."""
    if name in _NEEDLESS:
        return _NEEDLESS[name]
    names = list(known)
    meant = _PARAMETERS.get(name.lower())
    return f"did you mean {meant}?" if meant in names else like(name, names)


def for_value(value: object, kind: str) -> str | None:
    """A hint at what to do with a value that is not an array; ``kind`` says what it is."""
    if isinstance(value, Mapping) and value and all(map(str.isdigit, value)):
        return "send a typed array of JavaScript as Array.from(x)"
    return _OF_KINDS.get(kind)


def for_notation(line: str) -> str | None:
    """A hint at how a line that does not parse is written here."""
    for pattern, hint in _NOTATION:
        if pattern.search(line[:1000]):
            return hint
    return None


def like(name: str, known: Iterable[str]) -> str | None:
    """A hint at a known name that is similar, whatever its capitals."""
    names = {other[:60].casefold(): other[:60] for other in islice(known, _COMPARED)}
    close = difflib.get_close_matches(name[:60].casefold(), names, 1, _ALIKE)
    return f"did you mean {names[close[0]]}?" if close else None

"""The prelude's functions that are programs: their text, read when it is first used."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cached_property
from inspect import Parameter, Signature
from pathlib import Path
from typing import Any

from gradwire_engine.prelude.vocabulary import CONSTANTS

_NEXT = re.compile(r"^(?=def )", re.MULTILINE)
#: The namespace of functions without a prefix.
_OWN = "language."


def programs() -> Iterator[tuple[str, str]]:
    """The name of each function, with its prefix if it is not private, and its text."""
    for path in sorted((Path(__file__).parent / "programs").glob("*.gw")):
        space = path.stem.partition("-")[0]
        for text in _NEXT.split(path.read_text("utf-8"))[1:]:
            name = text.partition("(")[0].removeprefix("def ")
            yield name if name[0] == "_" else f"{space}.{name}".removeprefix(_OWN), text


class Written:
    """A function as text: its documentation, and its parameters, read when they are asked for."""

    def __init__(self, text: str) -> None:
        self.text = text
        _, self.__doc__, _ = text.split('"""', 2)

    @cached_property
    def __signature__(self) -> Signature:
        """The parameters as they are written, after the recorder's."""
        spec = self.definition.args
        required = [None] * (len(spec.args) - len(spec.defaults))
        given = zip(spec.args, [*required, *spec.defaults], strict=True)
        named = zip(spec.kwonlyargs, spec.kw_defaults, strict=True)
        rest = [] if spec.vararg is None else [spec.vararg]
        return Signature(
            [
                Parameter("recorder", Parameter.POSITIONAL_ONLY),
                *[_parameter(a, default, Parameter.POSITIONAL_OR_KEYWORD) for a, default in given],
                *[_parameter(a, None, Parameter.VAR_POSITIONAL) for a in rest],
                *[_parameter(a, default, Parameter.KEYWORD_ONLY) for a, default in named],
            ]
        )

    @cached_property
    def definition(self) -> ast.FunctionDef:
        """The syntax tree."""
        (definition,) = [n for n in ast.parse(self.text).body if isinstance(n, ast.FunctionDef)]
        return definition


def _parameter(written: ast.arg, default: ast.expr | None, kind: Any) -> Parameter:
    value = Parameter.empty
    if isinstance(default, ast.Name):
        value = CONSTANTS[default.id]
    elif default is not None:
        value = ast.literal_eval(default)
    marked = Parameter.empty if written.annotation is None else ast.unparse(written.annotation)
    return Parameter(written.arg, kind, default=value, annotation=marked)

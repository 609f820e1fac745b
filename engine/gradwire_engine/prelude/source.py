"""The prelude's files, and the functions that stand in them, each read when it is first used."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from functools import cached_property
from inspect import Parameter, Signature
from pathlib import Path
from typing import Any

from gradwire_engine.prelude.compiler import compiled
from gradwire_engine.prelude.vocabulary import CONSTANTS

_SUFFIX = ".gw"
_NEXT = re.compile(r"^(?=def )", re.MULTILINE)
_ALIAS = re.compile(r"^([\w.]+) = (\w+)$", re.MULTILINE)


Meaning = Callable[[str], Callable[..., Any]]


def sources(dialect: str, meaning: Meaning) -> Iterator[Source]:
    """The files of a dialect; ``meaning`` gives what records a name that is not private."""
    private: dict[str, Definition] = {}
    for path in sorted(Path(__file__).parent.glob(f"{dialect}*{_SUFFIX}")):
        space, _, family = path.name.removesuffix(_SUFFIX).partition("-")
        if space.partition(".")[0] == dialect:
            yield Source(space, family, path.read_text("utf-8"), private, meaning)


class Source:
    """The functions of a file; its ``private`` ones go to those of all files of the dialect."""

    def __init__(
        self,
        namespace: str,
        family: str,
        text: str,
        private: dict[str, Definition],
        meaning: Meaning,
    ) -> None:
        self.namespace = namespace
        #: The part of a file's name after a hyphen.
        self.family = family
        self.private = private
        _, *parts = _NEXT.split(text)
        made = [Definition(part, private, meaning) for part in parts]
        private.update({d.name: d for d in made if d.name.startswith("_")})
        #: Those that programs may call.
        self.public: list[Definition] = [d for d in made if not d.name.startswith("_")]
        #: Further names of a function, by its own.
        self.aliases: dict[str, list[str]] = {d.name: [] for d in self.public}
        for alias, name in _ALIAS.findall(text):
            self.aliases[name].append(alias if "." in alias else f"{namespace}.{alias}")


class Definition:
    """A function of the prelude; records its instructions when it is called."""

    def __init__(self, text: str, private: dict[str, Definition], meaning: Meaning) -> None:
        self.name = text.partition("(")[0].removeprefix("def ")
        head, doc, _ = text.split('"""', 2)
        #: The documentation.
        self.doc = doc
        #: Whether results carry a derivative; ``-> Constant`` states that none do.
        self.differentiable = not head.rstrip().endswith("-> Constant:")
        self.text = text
        self._private = private
        self._meaning = meaning

    def __call__(self, builder: Any, *args: Any, **named: Any) -> Any:
        """Record a call."""
        return self.record(builder, *args, **named)

    @cached_property
    def record(self) -> Callable[..., Any]:
        """The recorder of a call."""
        return compiled(self._written, self._called, CONSTANTS)

    @cached_property
    def __signature__(self) -> Signature:
        """The parameters as they are written, after the builder's."""
        spec = self._written.args
        required = [None] * (len(spec.args) - len(spec.defaults))
        given = zip(spec.args, [*required, *spec.defaults], strict=True)
        named = zip(spec.kwonlyargs, spec.kw_defaults, strict=True)
        return Signature(
            [
                Parameter("builder", Parameter.POSITIONAL_ONLY),
                *[_parameter(a, default, Parameter.POSITIONAL_OR_KEYWORD) for a, default in given],
                *[_parameter(a, default, Parameter.KEYWORD_ONLY) for a, default in named],
            ]
        )

    @cached_property
    def _written(self) -> ast.FunctionDef:
        (definition,) = [n for n in ast.parse(self.text).body if isinstance(n, ast.FunctionDef)]
        return definition

    def _called(self, name: str) -> Callable[..., Any]:
        private = self._private.get(name)
        return self._meaning(name) if private is None else private


def _parameter(written: ast.arg, default: ast.expr | None, kind: Any) -> Parameter:
    value = Parameter.empty if default is None else ast.literal_eval(default)
    annotation = Parameter.empty if written.annotation is None else "Static"
    return Parameter(written.arg, kind, default=value, annotation=annotation)

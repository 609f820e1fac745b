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
_MEMBER = re.compile(r"^(\w+) = (\w+)\((.+)\)$", re.MULTILINE)


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
        for name, family, given in _MEMBER.findall(text):
            self.public.append(Member(name, private[family], given))
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
        return self._compiled(self._written)

    def values_of(self, expressions: str) -> Any:
        """The values of expressions that record nothing, as a tuple."""
        return self._compiled(_read(f"def given():\n    return ({expressions},)"))(None)

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
                *[_parameter(a, None, Parameter.VAR_POSITIONAL) for a in [spec.vararg] if a],
                *[_parameter(a, default, Parameter.KEYWORD_ONLY) for a, default in named],
            ]
        )

    @cached_property
    def _written(self) -> ast.FunctionDef:
        return _read(self.text)

    def _compiled(self, definition: ast.FunctionDef) -> Callable[..., Any]:
        return compiled(definition, self._called, CONSTANTS)

    def _called(self, name: str) -> Callable[..., Any]:
        private = self._private.get(name)
        return self._meaning(name) if private is None else private


class Member(Definition):
    """A function of a family: the one that makes it, whose first parameters are ``given``."""

    def __init__(self, name: str, family: Definition, given: str) -> None:
        self.name, self.doc, self.differentiable = name, family.doc, family.differentiable
        self.text = f"{name} = {family.name}({given})"
        self._family, self._given = family, given

    @cached_property
    def record(self) -> Callable[..., Any]:
        """The recorder of a call."""
        record, given = self._family.record, self._values
        return lambda builder, *args, **named: record(builder, *given, *args, **named)

    @cached_property
    def __signature__(self) -> Signature:
        """The family's parameters but for those that are given."""
        builder, *parameters = self._family.__signature__.parameters.values()
        return Signature([builder, *parameters[len(self._values) :]])

    @cached_property
    def _values(self) -> tuple[Any, ...]:
        values: tuple[Any, ...] = self._family.values_of(self._given)
        return values


def _read(text: str) -> ast.FunctionDef:
    (definition,) = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    return definition


def _parameter(written: ast.arg, default: ast.expr | None, kind: Any) -> Parameter:
    value = Parameter.empty if default is None else ast.literal_eval(default)
    annotation = Parameter.empty if written.annotation is None else "Static"
    return Parameter(written.arg, kind, default=value, annotation=annotation)

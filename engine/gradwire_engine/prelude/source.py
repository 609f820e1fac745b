"""The prelude's files, and the functions that stand in them, each read when it is first used."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from functools import cached_property
from inspect import Parameter, Signature
from pathlib import Path
from typing import Any, Generic, TypeVar

from gradwire_engine.prelude.compiler import compiled
from gradwire_engine.prelude.vocabulary import CONSTANTS

_SUFFIX = ".gw"
_NEXT = re.compile(r"^(?=def )", re.MULTILINE)
_ALIAS = re.compile(r"^([\w.]+) = (\w+)$", re.MULTILINE)


Meaning = Callable[[str], Callable[..., Any]]
W = TypeVar("W", bound="Written")


def sources(dialect: str, meaning: Meaning) -> Iterator[Source[Definition]]:
    """The files of a dialect; ``meaning`` gives what records a name that is not private."""
    private: dict[str, Definition] = {}
    for path in sorted(Path(__file__).parent.glob(f"{dialect}*{_SUFFIX}")):
        source = Source(path, private, lambda text: Definition(text, private, meaning))
        if source.namespace.partition(".")[0] == dialect:
            yield source


def programs(written: Callable[[str], W]) -> list[Source[W]]:
    """The files of functions that are programs, each ``written`` of its text."""
    private: dict[str, W] = {}
    folder = Path(__file__).parent / "programs"
    return [Source(path, private, written) for path in sorted(folder.glob(f"*{_SUFFIX}"))]


class Source(Generic[W]):
    """The functions of a file; its ``private`` ones go to those of all files of the dialect."""

    def __init__(self, path: Path, private: dict[str, W], written: Callable[[str], W]) -> None:
        self.namespace, _, family = path.name.removesuffix(_SUFFIX).partition("-")
        #: The part of a file's name after a hyphen.
        self.family = family
        self.private = private
        text = path.read_text("utf-8")
        _, *parts = _NEXT.split(text)
        made = [written(part) for part in parts]
        private.update({d.name: d for d in made if d.name.startswith("_")})
        #: Those that programs may call.
        self.public: list[W] = [d for d in made if not d.name.startswith("_")]
        #: Further names of a function, by its own.
        self.aliases: dict[str, list[str]] = {d.name: [] for d in self.public}
        for alias, name in _ALIAS.findall(text):
            self.aliases[name].append(alias if "." in alias else f"{self.namespace}.{alias}")


class Written:
    """A function as text: its name, documentation and parameters, each read when it is asked."""

    def __init__(self, text: str) -> None:
        self.name = text.partition("(")[0].removeprefix("def ")
        #: All before the documentation, and this.
        self.head, self.doc, _ = text.split('"""', 2)
        self.text = text

    @cached_property
    def __signature__(self) -> Signature:
        """The parameters as they are written, after the builder's or the recorder's."""
        spec = self.definition.args
        required = [None] * (len(spec.args) - len(spec.defaults))
        given = zip(spec.args, [*required, *spec.defaults], strict=True)
        named = zip(spec.kwonlyargs, spec.kw_defaults, strict=True)
        rest = [] if spec.vararg is None else [spec.vararg]
        return Signature(
            [
                Parameter("builder", Parameter.POSITIONAL_ONLY),
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


class Definition(Written):
    """A function of the prelude; records its instructions when it is called."""

    def __init__(self, text: str, private: dict[str, Definition], meaning: Meaning) -> None:
        super().__init__(text)
        #: Whether results carry a derivative; ``-> Constant`` states that none do.
        self.differentiable = not self.head.rstrip().endswith("-> Constant:")
        self._private = private
        self._meaning = meaning

    def __call__(self, builder: Any, *args: Any, **named: Any) -> Any:
        """Record a call."""
        return self.record(builder, *args, **named)

    @cached_property
    def record(self) -> Callable[..., Any]:
        """The recorder of a call."""
        return compiled(self.definition, self._called, CONSTANTS)

    def _called(self, name: str) -> Callable[..., Any]:
        private = self._private.get(name)
        return self._meaning(name) if private is None else private


def _parameter(written: ast.arg, default: ast.expr | None, kind: Any) -> Parameter:
    value = Parameter.empty
    if isinstance(default, ast.Name):
        value = CONSTANTS[default.id]
    elif default is not None:
        value = ast.literal_eval(default)
    marked = Parameter.empty if written.annotation is None else ast.unparse(written.annotation)
    return Parameter(written.arg, kind, default=value, annotation=marked)

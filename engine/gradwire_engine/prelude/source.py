"""The prelude's files, and the functions that stand in them."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable, Iterator
from functools import cache, cached_property
from importlib.machinery import SourceFileLoader
from inspect import Parameter, Signature, signature
from pathlib import Path
from types import CodeType
from typing import Any

from gradwire_engine.errors import InternalError
from gradwire_engine.prelude.compiler import BUILDER, Recorders, given_of, translated
from gradwire_engine.prelude.vocabulary import CONSTANTS

#: The modules by which the prelude is translated.
_TRANSLATORS = (
    "frontends.expressions",
    "frontends.text",
    "operators",
    "program",
    "prelude.compiler",
    "prelude.vocabulary",
)
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
            yield Source(space, family, path, private, meaning)


def translate_all() -> None:
    """Keep all files in Python beside them, which else happens when each is first used."""
    for path in Path(__file__).parent.glob(f"*{_SUFFIX}"):
        _Translator(path.name, str(path)).get_code(path.name)


class _Translator(SourceFileLoader):
    """A file in Python, kept beside it as Python keeps modules, until one of both changes."""

    def source_to_code(  # type: ignore[override]  # a static method of one of its bases
        self, data: Any, path: Any, *, _optimize: int = -1
    ) -> CodeType:
        """Translate the text."""
        return translated(bytes(data).decode("utf-8"), CONSTANTS.keys())

    def path_stats(self, path: Any) -> dict[str, Any]:
        """The file's size and age, which counts the translator's, too."""
        stats = dict(super().path_stats(path))
        return stats | {"mtime": int(stats["mtime"]) + _translators_age()}


@cache
def _translators_age() -> int:
    """The sum of the times of change of what translates."""
    root = __name__.partition(".")[0]
    specs = [importlib.util.find_spec(f"{root}.{name}") for name in _TRANSLATORS]
    return sum([int(Path(spec.origin).stat().st_mtime) for spec in specs if spec and spec.origin])


class Source:
    """The functions of a file; its ``private`` ones go to those of all files of the dialect."""

    def __init__(
        self,
        namespace: str,
        family: str,
        path: Path,
        private: dict[str, Definition],
        meaning: Meaning,
    ) -> None:
        self.namespace = namespace
        #: The part of a file's name after a hyphen.
        self.family = family
        self.private = private
        self._path = path
        self._meaning = meaning
        text = path.read_text("utf-8")
        _, *parts = _NEXT.split(text)
        made = [Definition(part, self) for part in parts]
        defined = {*private}
        private.update({d.name: d for d in made if d.name.startswith("_")})
        made += [
            Member(name, private[of], given, self) for name, of, given in _MEMBER.findall(text)
        ]
        for name in [d.name for d in made]:
            if name in defined:
                raise InternalError(f"{path.name} defines {name} once more")
            defined.add(name)
        #: Those that programs may call.
        self.public: list[Definition] = [d for d in made if not d.name.startswith("_")]
        #: Further names of a function, by its own.
        self.aliases: dict[str, list[str]] = {d.name: [] for d in self.public}
        for alias, name in _ALIAS.findall(text):
            self.aliases[name].append(alias if "." in alias else f"{namespace}.{alias}")

    @cached_property
    def recorders(self) -> Recorders:
        """Those of all functions of the file."""
        code = _Translator(self._path.name, str(self._path)).get_code(self._path.name)
        assert code is not None
        return Recorders(code, self._called, CONSTANTS)

    def _called(self, name: str) -> Callable[..., Any]:
        private = self.private.get(name)
        return self._meaning(name) if private is None else private


class Definition:
    """A function of the prelude; records its instructions when it is called."""

    def __init__(self, text: str, source: Source) -> None:
        self.name = text.partition("(")[0].removeprefix("def ")
        head, doc, _ = text.split('"""', 2)
        #: The documentation.
        self.doc = self.__doc__ = doc
        #: Whether results carry a derivative; ``-> Constant`` states that none do.
        self.differentiable = not head.rstrip().endswith("-> Constant:")
        self.text = text
        self._source = source

    def __call__(self, builder: Any, *args: Any, **named: Any) -> Any:
        """Record a call."""
        return self.record(builder, *args, **named)

    @cached_property
    def record(self) -> Callable[..., Any]:
        """The recorder of a call."""
        return self._source.recorders[self.name]

    @cached_property
    def __signature__(self) -> Signature:
        """The parameters as they are written, after the builder's."""
        written = signature(self.record).parameters.values()
        builder = Parameter("builder", Parameter.POSITIONAL_ONLY)
        return Signature([builder if p.name == BUILDER else p for p in written])


class Member(Definition):
    """A function of a family: the one that makes it, whose first parameters are given."""

    def __init__(self, name: str, family: Definition, given: str, source: Source) -> None:
        self.name, self.doc, self.differentiable = name, family.doc, family.differentiable
        self.text = f"{name} = {family.name}({given})"
        self._family, self._source = family, source

    @cached_property
    def record(self) -> Callable[..., Any]:
        """The recorder of a call."""
        record, given = self._family.record, self._given
        return lambda builder, *args, **named: record(builder, *given, *args, **named)

    @cached_property
    def __signature__(self) -> Signature:
        """The family's parameters but for those that are given."""
        builder, *parameters = self._family.__signature__.parameters.values()
        return Signature([builder, *parameters[len(self._given) :]])

    @cached_property
    def _given(self) -> tuple[Any, ...]:
        """Values of the family's first parameters, which record nothing."""
        values: tuple[Any, ...] = self._source.recorders[given_of(self.name)](None)
        return values

"""The form of a dialect: another library's names, with its parameters, their order and defaults.

An entry gives names to an operation and writes its parameters as that library does:
``"input dim:axis=None keepdim:keepdims=False"`` is a parameter ``dim`` that the operation calls
``axis``. Where meaning differs too, a function records what the library computes.
"""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Callable
from functools import cached_property
from inspect import Parameter, Signature
from typing import Any

from gradwire_engine.ops.base import FUNCTIONS, Function
from gradwire_engine.ops.promotion import DTYPES, promoted
from gradwire_engine.ops.var import Var
from gradwire_engine.prelude import Definition, meaning, sources
from gradwire_engine.tape import FLOATING

#: Stands before the parameters that go by keyword only.
_STAR = "*"


class Dialect:
    """The functions of one library by dotted name, under the prefixes that choose it."""

    def __init__(
        self,
        name: str,
        roots: dict[str, str],
        *,
        ignored: str = "",
        unprefixed: str = "",
        synonyms: dict[str, str] | None = None,
        stays_half: bool = True,
    ) -> None:
        self.name = name
        #: Prefixes that programs may write, and their meaning: ``F.`` is ``torch.nn.functional.``.
        self.roots = roots
        #: A keyword that every function takes and that has no effect here.
        self.ignored = ignored
        #: Prefixes under which a name that is not among the functions has its own meaning.
        self.unprefixed = unprefixed
        #: Further keywords that stand for parameters: PyTorch takes NumPy's ``axis`` for ``dim``.
        self.synonyms = synonyms or {}
        #: Functions of half precision give it where SciPy's would give float32.
        self.stays_half = stays_half
        self.functions: dict[str, Function] = {}
        #: The operation that each function's parameters are handed to, empty for its own.
        self.meant: dict[str, str] = {}

    def entry(self, names: str, operation: str = "", parameters: str | None = None) -> None:
        """Give ``operation`` the space-separated ``names``, its ``parameters`` written anew.

        Without ``operation`` each name is of the operation with the same last part.
        """
        if not operation:
            for name in names.split():
                self.entry(name, name.rpartition(".")[2], parameters)
            return
        target = FUNCTIONS[operation]
        record = self._recorded(names, target.record, parameters)
        record.stays_half = self.stays_half
        self._publish(self._full(names), record, target.doc, target.family, target)

    def macro(self, names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Make a function that records what the library's functions ``names`` compute."""

        def complete(function: Callable[..., Any]) -> Callable[..., Any]:
            record = self._recorded(names, function, None)
            self._publish(self._full(names), record, function.__doc__ or "", self.name, None)
            return function

        return complete

    def read_prelude(self) -> None:
        """Enter the functions that are written in Gradwire's language."""
        for source in sources(self.name, self.recorder_of):
            for definition in source.public:
                first = f"{source.namespace}.{definition.name}"
                record = self._recorded(first.partition(".")[2], definition, None)
                names = [first, *source.aliases[definition.name]]
                self._publish(names, record, definition.doc, self.name, None)

    def recorder_of(self, name: str) -> Callable[..., Any]:
        """The recorder of a call of ``name`` in the dialect's functions of the prelude."""
        found = meaning(name)
        if found is not None:
            return found
        (full,) = [to + name.removeprefix(r) for r, to in self.roots.items() if name.startswith(r)]
        record = self.functions[full].record
        if not isinstance(record, Recorded):
            return record
        if isinstance(record.wrapped, Definition):  # compiled when it is called
            return record.wrapped
        return record if record.renamed else record.own

    def _full(self, names: str) -> list[str]:
        return [f"{self.name}.{name}" for name in names.split()]

    def _recorded(self, names: str, record: Callable[..., Any], parameters: str | None) -> Recorded:
        """The recorder of a call of the functions ``names``."""
        return Recorded(record, parameters, self.ignored, self.synonyms)

    def _publish(
        self, names: list[str], record: Recorded, doc: str, family: str, target: Function | None
    ) -> None:
        first, *rest = names
        differentiable = target is None or target.differentiable
        function = Function(first, tuple(rest), record, doc, family, differentiable)
        self.meant[first] = "" if target is None else target.name
        for name in (first, *rest):
            if name in self.functions or not doc:
                raise TypeError(f"{name}: needs a docstring and a name of its own")
            self.functions[name] = function


class Recorded:
    """Records a call that is written with a dialect's parameters."""

    def __init__(
        self,
        record: Callable[..., Any],
        written: str | None,
        ignored: str,
        synonyms: dict[str, str],
    ) -> None:
        #: What records with the operation's own parameters.
        self.wrapped = record
        #: The parameters as an entry has them, None for those that ``record`` has.
        self._written = written
        #: Other names of parameters in programs.
        self.synonyms = synonyms
        self.stays_half = False
        self._ignored = ignored

    @cached_property
    def _parsed(self) -> tuple[list[Parameter], dict[str, str]]:
        own = [*inspect.signature(self.wrapped).parameters.values()][1:]
        return (own, {}) if self._written is None else _parsed(self._written, own)

    @cached_property
    def renamed(self) -> dict[str, str]:
        """The operation's parameters by those that are written."""
        return self._parsed[1]

    @cached_property
    def __signature__(self) -> Signature:
        """The public parameters, after the builder's: what ``inspect.signature`` gives."""
        kept = [p for p in self._parsed[0] if p.kind is not Parameter.VAR_KEYWORD]
        if self._ignored:
            kept.append(Parameter(self._ignored, Parameter.KEYWORD_ONLY, default=None))
        return Signature([Parameter("builder", Parameter.POSITIONAL_ONLY), *kept])

    @cached_property
    def own(self) -> Callable[..., Any]:
        """The recorder of a call that is written with the operation's own parameters."""
        record = self.wrapped.record if isinstance(self.wrapped, Definition) else self.wrapped
        return staying_half(record) if self.stays_half else record

    def __call__(self, builder: Any, *args: Any, **named: Any) -> Any:
        """Record with the operation's own names for the parameters."""
        parameters = self.__signature__.parameters
        named = {k if k in parameters else self.synonyms.get(k, k): v for k, v in named.items()}
        given = self.__signature__.bind(builder, *args, **named)
        given.apply_defaults()
        return self.of(dict(given.arguments))

    def of(self, values: dict[str, Any]) -> Any:
        """Record with the builder and a value for every parameter."""
        parameters = self.__signature__.parameters
        first = [values.pop("builder")]
        values.pop(self._ignored, None)
        if any(parameters[name].kind is Parameter.VAR_POSITIONAL for name in values):
            while values:  # what stands before the star can only be given by position
                name, value = next(iter(values.items()))
                if parameters[name].kind is Parameter.KEYWORD_ONLY:
                    break
                del values[name]
                spread = parameters[name].kind is Parameter.VAR_POSITIONAL
                first += value if spread else [value]
        return self.own(*first, **{self.renamed.get(k, k): v for k, v in values.items()})


def staying_half(record: Callable[..., Any]) -> Callable[..., Any]:
    """The recorder that rounds to the operands' half precision what SciPy gives in float32."""

    @functools.wraps(record)
    def rounded(builder: Any, /, *args: Any, **named: Any) -> Any:
        z = record(builder, *args, **named)
        if not isinstance(z, Var) or z.dtype != DTYPES["float32"] or named.get("dtype") is not None:
            return z
        kinds = {(x.dtype, x.type.weak) for x in (*args, *named.values()) if isinstance(x, Var)}
        dtype = promoted(tuple(kinds))[0] if kinds else z.dtype
        return builder.cast(z, dtype) if dtype.itemsize == 2 and dtype.kind in FLOATING else z

    return rounded


def recorded(name: str) -> Callable[..., Any]:
    """The recorder of the operation ``name``, for a dialect's own functions."""
    return FUNCTIONS[name].record


def _parsed(text: str, own: list[Parameter]) -> tuple[list[Parameter], dict[str, str]]:
    """Parameters written as ``theirs:ours=default``, and ours by theirs."""
    known = {parameter.name: parameter for parameter in own}
    written: list[Parameter] = []
    renamed: dict[str, str] = {}
    kind: Any = Parameter.POSITIONAL_OR_KEYWORD
    for word in text.split():
        if word == _STAR:
            kind = Parameter.KEYWORD_ONLY
            continue
        names, equals, default = word.partition("=")
        theirs, _, ours = names.partition(":")
        taken = renamed.values()
        ours = ours or (theirs if theirs in known else next(n for n in known if n not in taken))
        if ours in taken:
            raise TypeError(f"two parameters are {ours}")
        parameter = known[ours].replace(name=theirs, kind=_kept(known[ours], kind))
        if parameter.kind is Parameter.VAR_POSITIONAL:
            kind = Parameter.KEYWORD_ONLY
        value = ast.literal_eval(default) if equals else Parameter.empty
        written.append(parameter.replace(default=value))
        renamed[theirs] = ours
    return written, renamed


def _kept(parameter: Parameter, kind: Any) -> Any:
    return parameter.kind if parameter.kind is Parameter.VAR_POSITIONAL else kind

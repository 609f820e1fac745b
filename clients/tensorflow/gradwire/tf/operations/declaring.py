"""Operations are declared by their parameters; a decorator says what they are and give.

>>> @operation(like, "tf.nn.depth_to_space", "DepthToSpace")
... def depth_to_space(input: TensorLike, block_size: int, name: Name = None) -> Tensor:
...     '''Channels moved into blocks of ``block_size`` by ``block_size`` pixels.'''

The annotations tell parameters apart: ``TensorLike`` and ``Places`` are tensors, the latter of
indices with a dtype of their own; ``Unused`` ones have no meaning here; all others are written
into the program.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, ParamSpec, TypeAlias, TypeVar

from gradwire.tf.unregistered import unregistered
from gradwire.tf.variants import with_name

_TENSORS = ("TensorLike", "Places")
_UNSENT = ("Name", "Unused")

P = ParamSpec("P")
R = TypeVar("R")

#: Dtypes by TensorFlow's names in messages, in its order; None is any.
Kinds: TypeAlias = "Sequence[str] | None"
#: Arguments by parameter: tensors, and what is written into the program.
Tensors: TypeAlias = Mapping[str, Any]
Static: TypeAlias = Mapping[str, Any]


class Operation(NamedTuple):
    """A function of the language, and the operation that TensorFlow's messages call it."""

    function: str
    op: str
    kinds: Kinds = None
    #: True if the service refuses some values, so that the call is sent immediately.
    refuses: bool = False
    #: The tensors that are indices.
    places: Sequence[str] = ()


#: The rule for an operation's result: see ``rules``.
Rule: TypeAlias = Callable[[Operation, Tensors, Static], Any]


def operation(
    rule: Rule,
    function: str,
    op: str,
    kinds: Kinds = None,
    *,
    refuses: bool = False,
    registered: bool = True,
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declare a function that gives what the rule says; TensorFlow knows no derivative of some."""

    def declare(declared: Callable[P, R]) -> Callable[P, R]:
        takes: _Parameters | None = None
        of = Operation(function, op, kinds, refuses)

        @functools.wraps(declared)
        def called(*args: P.args, **kwargs: P.kwargs) -> Any:
            nonlocal takes, of
            if takes is None:
                found = _Parameters(declared)
                of = of._replace(places=found.places)
                takes = found  # last, since other threads look at it
            if len(args) == takes.alone and not kwargs:  # as elementwise functions are called
                sent, written = dict(zip(takes.tensors, args, strict=True)), takes.unwritten
            else:
                declared(*args, **kwargs)  # it does nothing but check that it takes these
                given = takes.default | kwargs
                given.update(zip(takes.names, args, strict=False))
                sent = {name: given[name] for name in takes.tensors}
                written = {name: given[name] for name in takes.unwritten}
            if registered:
                return rule(of, sent, written)
            return unregistered(op, list(sent.values()), lambda: rule(of, sent, written))

        return called

    return declare


class Family(Generic[P, R]):
    """Operations with the parameters, the rule and the dtypes of a declared function.

    >>> @unary("tf.nn.selu", "Selu", kinds.LAYER)
    ... def selu() -> None:
    ...     '''Self-normalising exponential linear unit.'''
    """

    def __init__(self, declared: Callable[P, R], rule: Rule, kinds: Kinds, refuses: bool) -> None:
        self._declared: Callable[P, R] = declared
        self._rule: Rule = rule
        self._kinds: Kinds = kinds
        self._refuses: bool = refuses

    def __call__(
        self,
        function: str,
        op: str,
        kinds: Kinds = None,
        *,
        rule: Rule | None = None,
        refuses: bool = False,
        registered: bool = True,
        **defaults: Any,
    ) -> Callable[[Callable[[], None]], Callable[P, R]]:
        """Declare one of them; ``defaults`` are those of parameters that differ."""
        declare: Callable[[Callable[P, R]], Callable[P, R]] = operation(
            rule or self._rule,
            function,
            op,
            kinds or self._kinds,
            refuses=refuses or self._refuses,
            registered=registered,
        )

        def declared(named: Callable[[], None]) -> Callable[P, R]:
            code = named.__code__  # what is declared has no lines of its own
            place = {"co_filename": code.co_filename, "co_firstlineno": code.co_firstlineno}
            return declare(with_name(self._declared, named, defaults, **place))

        return declared


def family(
    rule: Rule, kinds: Kinds = None, *, refuses: bool = False
) -> Callable[[Callable[P, R]], Family[P, R]]:
    """Declare the parameters that operations have in common."""
    return lambda declared: Family(declared, rule, kinds, refuses)


class _Parameters:
    """The parameters of a declared function, read when it is first called."""

    def __init__(self, declared: Callable[..., Any]) -> None:
        kinds = {name: str(kind) for name, kind in declared.__annotations__.items()}
        del kinds["return"]
        code, defaults = declared.__code__, declared.__defaults__ or ()
        needed = code.co_argcount - len(defaults)
        self.names: tuple[str, ...] = code.co_varnames[: code.co_argcount]
        self.default: dict[str, Any] = dict(zip(self.names[needed:], defaults, strict=True))
        self.tensors: list[str] = [name for name in kinds if kinds[name].startswith(_TENSORS)]
        self.places: tuple[str, ...] = tuple([n for n in kinds if kinds[n] == "Places"])
        #: The defaults of what is written into the program.
        self.unwritten: dict[str, Any] = {
            name: self.default.get(name)
            for name in kinds
            if name not in self.tensors and kinds[name] not in _UNSENT
        }
        #: The number of arguments if all of them are tensors, -1 if others are needed.
        self.alone: int = needed if list(self.names[:needed]) == self.tensors else -1

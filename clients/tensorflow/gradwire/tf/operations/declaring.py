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
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeAlias, TypeVar

from gradwire.tf.unregistered import unregistered

_TENSORS = ("TensorLike", "Places")
_UNSENT = ("Name", "Unused")

P = ParamSpec("P")
R = TypeVar("R")

#: Dtypes by TensorFlow's names in messages, in its order; None is any.
Kinds: TypeAlias = "Sequence[str] | None"
#: Arguments by parameter: tensors, and what is written into the program.
Tensors: TypeAlias = Mapping[str, Any]
Static: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Operation:
    """A function of the language, and the operation that TensorFlow's messages call it."""

    function: str
    op: str
    kinds: Kinds = None
    #: Whether the service refuses some values, so that the call is sent immediately.
    refuses: bool = False
    #: Which tensors are indices.
    places: Sequence[str] = ()


#: What an operation gives: see ``rules``.
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
        kind_of = {name: str(kind) for name, kind in declared.__annotations__.items()}
        tensors = [name for name, kind in kind_of.items() if kind.startswith(_TENSORS)]
        static = [name for name in kind_of if name not in tensors and kind_of[name] not in _UNSENT]
        static.remove("return")
        places = tuple([name for name in tensors if kind_of[name] == "Places"])
        of = Operation(function, op, kinds, refuses, places)
        code, defaults = declared.__code__, declared.__defaults__ or ()
        names = code.co_varnames[: code.co_argcount]
        default = dict(zip(names[len(names) - len(defaults) :], defaults, strict=True))
        unwritten = {name: default.get(name) for name in static}
        needed = len(names) - len(defaults)
        alone = needed if list(names[:needed]) == tensors else -1

        @functools.wraps(declared)
        def called(*args: P.args, **kwargs: P.kwargs) -> Any:
            if len(args) == alone and not kwargs:  # as elementwise functions are called
                sent, written = dict(zip(tensors, args, strict=True)), unwritten
            else:
                declared(*args, **kwargs)  # it does nothing but check that it takes these
                given = default | kwargs
                given.update(zip(names, args, strict=False))
                sent = {name: given[name] for name in tensors}
                written = {name: given[name] for name in static}
            if registered:
                return rule(of, sent, written)
            return unregistered(op, list(sent.values()), lambda: rule(of, sent, written))

        return called

    return declare

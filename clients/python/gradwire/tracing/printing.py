"""Terms as program text: one line for each, in which its operands stand by their names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

from gradwire.tracing.literals import literal
from gradwire.tracing.terms import AT, CALL, ITEM, VALUE, Term

#: The language's functions that have no library's name before theirs.
FUNCTIONS: frozenset[str] = frozenset(
    "checkpoint complex cond copy custom_gradient custom_root fori_loop grad hessian hvp jacobian "
    "jvp map odeint scan stop_gradient switch value_and_grad vjp vmap while_loop".split()
)
#: The libraries by whose names all other functions are called.
LIBRARIES: frozenset[str] = frozenset(
    "F jax jnp lax np random scipy sparse special tf torch".split()
)


def printed(term: Term, name: Callable[[Term], str]) -> str:
    """The text that computes a term; ``name`` says what stands for an operand."""
    return Printer(name).printed(term)


@cache
def _is_qualified(op: str) -> bool:
    return op in FUNCTIONS or op.partition(".")[0] in LIBRARIES


class Printer:
    """Prints terms; ``name`` says what stands for an operand."""

    __slots__ = ("_name",)

    def __init__(self, name: Callable[[Term], str]) -> None:
        self._name: Callable[[Term], str] = name

    def printed(self, term: Term) -> str:
        """The text that computes a term."""
        op, args = term.op, term.args
        if op[0].isidentifier():
            if not _is_qualified(op):
                raise TypeError(
                    f"{op} needs a library's name before it: a variable may be called so"
                )
            return f"{op}({self.arguments(args, term.kwargs)})"
        if op == ITEM:
            return f"{self.value(args[0])}[{self.index(args[1])}]"
        if op == CALL:
            return f"{self.value(args[0])}({self.arguments(args[1:], term.kwargs)})"
        if op == VALUE:
            return self.value(args[0])
        if op.startswith(AT):
            whole, key, value = args
            place = f"{self.value(whole)}.at[{self.index(key)}]"
            return f"{place}.{op.removeprefix(AT)}({self.value(value)})"
        if len(args) == 1:
            return f"{op}{self.operand(args[0])}"
        left, right = args
        return f"{self.operand(left)} {op} {self.operand(right)}"

    def arguments(self, args: Iterable[Any], kwargs: Mapping[str, Any]) -> str:
        """The arguments of a call, without its parentheses."""
        text = ", ".join([self.value(arg) for arg in args])
        if not kwargs:
            return text
        named = ", ".join([f"{name}={self.value(arg)}" for name, arg in kwargs.items()])
        return f"{text}, {named}" if text else named

    def value(self, value: Any) -> str:
        """Any argument: a term, a number, a list of both, a dtype."""
        if isinstance(value, Term):
            return self._name(value)
        if isinstance(value, tuple) and value:
            return f"({', '.join(map(self.value, value))}{',' if len(value) == 1 else ''})"
        if isinstance(value, (list, tuple)):
            return f"[{', '.join(map(self.value, value))}]"
        if isinstance(value, dict):
            return "{" + ", ".join([f"{key}: {self.value(v)}" for key, v in value.items()]) + "}"
        return literal(value)

    def operand(self, value: Any) -> str:
        """An argument of an operator: negative numbers in parentheses."""
        text = self.value(value)
        return f"({text})" if text[0] == "-" else text

    def index(self, key: Any) -> str:
        """An index, without its brackets."""
        if not isinstance(key, tuple):
            return self._item(key)
        if not key:
            return "..."
        return ", ".join(map(self._item, key)) + ("," if len(key) == 1 else "")

    def _item(self, item: Any) -> str:
        if not isinstance(item, slice):
            return self.value(item)
        text = f"{self._bound(item.start)}:{self._bound(item.stop)}"
        return text if item.step is None else f"{text}:{self._bound(item.step)}"

    def _bound(self, bound: Any) -> str:
        return "" if bound is None else self.value(bound)

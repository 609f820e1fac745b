"""autograd's functions with derivatives of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradwire
from gradwire.tracing.traces import current


class Primitive:
    """A function with a derivative of its own."""

    def __init__(self, f: Callable[..., Any]) -> None:
        self._f = f
        self.rules: dict[int, Callable[..., Any]] = {}
        self.__name__ = getattr(f, "__name__", "function")

    def __call__(self, *args: Any) -> Any:
        if current() is None:
            return self._f(*args)
        if not self.rules:
            raise NotImplementedError(f"the derivative of {self.__name__} is not defined")

        def backward(z_bar: Any, z: Any, *args: Any) -> Any:
            rules = [self.rules.get(i) for i in range(len(args))]
            return tuple([None if rule is None else rule(z, *args)(z_bar) for rule in rules])

        return gradwire.custom_gradient(self._f, backward)(*args)

    def defgrad(self, rule: Callable[..., Any], argnum: int = 0) -> None:
        self.rules[argnum] = rule

    def defvjp(self, rule: Callable[..., Any], argnum: int = 0) -> None:
        self.rules[argnum] = lambda ans, *args: lambda g: rule(g, ans, None, None, *args)

    def defvjp_is_zero(self, argnums: Any) -> None:
        for argnum in argnums:
            self.rules[argnum] = lambda ans, *args: lambda g: 0 * g


def primitive(f: Callable[..., Any]) -> Primitive:
    return Primitive(f)


def defvjp(f: Primitive, *rules: Callable[..., Any]) -> None:
    f.rules.update(enumerate(rules))

"""``tf.Module``: variables that belong together."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from typing import Any

from gradwire.tf import nest
from gradwire.tf.scopes import name_scope, scoped
from gradwire.tf.variables import Variable

__all__ = ["Module"]


class Module:
    """An object whose variables, and those of modules in it, are found by its attributes.

    >>> class Line(tf.Module):
    ...     def __init__(self):
    ...         super().__init__(name="line")
    ...         self.slope = tf.Variable(2.0)
    >>> len(Line().trainable_variables)
    1
    """

    #: Attributes that are not searched.
    _TF_MODULE_IGNORED_PROPERTIES: frozenset[str] = frozenset()

    def __init__(self, name: str | None = None) -> None:
        own = _snake(type(self).__name__) if name is None else name
        if not own.isidentifier():
            raise ValueError(f"`name` must be a Python identifier, got {own!r}")
        self._name: str = own
        self._scope_name: str = scoped(own)

    @property
    def name(self) -> str:
        """The module's name, by default of its class."""
        return self._name

    @property
    def name_scope(self) -> name_scope:
        """The scope for the names of its variables."""
        return name_scope(f"{self._scope_name}/")

    @property
    def variables(self) -> tuple[Any, ...]:
        """Its variables by their attributes' names, then those of modules in it."""
        return tuple(self._flatten(predicate=_is_variable))

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        """Those of its variables that are trainable."""
        return tuple(self._flatten(predicate=lambda x: _is_variable(x) and x.trainable))

    @property
    def non_trainable_variables(self) -> tuple[Any, ...]:
        """Those of its variables that are not trainable."""
        return tuple(self._flatten(predicate=lambda x: _is_variable(x) and not x.trainable))

    @property
    def submodules(self) -> tuple[Any, ...]:
        """The modules in it, and those in them."""
        return tuple(self._flatten(predicate=lambda x: isinstance(x, Module)))

    def _flatten(
        self,
        recursive: bool = True,
        predicate: Callable[[Any], bool] | None = None,
        attribute_traversal_key: Callable[[str], Any] | None = None,
        with_path: bool = False,
        expand_composites: bool = False,
    ) -> Iterator[Any]:
        accepts = predicate or (lambda _: True)
        seen: set[int] = {id(self)}
        for path, leaf in _found(self, seen, accepts, recursive, attribute_traversal_key, ()):
            yield (path, leaf) if with_path else leaf

    @classmethod
    def with_name_scope(cls, method: Callable[..., Any]) -> Callable[..., Any]:
        """A method in whose variables' names the module's own comes first."""

        @functools.wraps(method)
        def scoped_method(self: Any, *args: Any, **kwargs: Any) -> Any:
            with self.name_scope:
                return method(self, *args, **kwargs)

        return scoped_method


def _found(
    module: Any,
    seen: set[int],
    accepts: Callable[[Any], bool],
    recursive: bool,
    key: Callable[[str], Any] | None,
    path: tuple[Any, ...],
) -> Iterator[tuple[tuple[Any, ...], Any]]:
    inside: list[tuple[tuple[Any, ...], Any]] = []
    ignored = type(module)._TF_MODULE_IGNORED_PROPERTIES
    for name in sorted(vars(module), key=key):
        if name in ignored:
            continue
        try:
            leaves = nest.flatten(getattr(module, name))
        except TypeError:  # keys without an order: nothing of it can be named
            continue
        for leaf in leaves:
            if id(leaf) in seen:
                continue
            if _is_variable(leaf) or isinstance(leaf, Module):
                seen.add(id(leaf))
            if accepts(leaf):
                yield (*path, name), leaf
            if recursive and isinstance(leaf, Module):
                inside.append(((*path, name), leaf))
    for where, each in inside:
        yield from _found(each, seen, accepts, recursive, key, where)


def _is_variable(value: Any) -> bool:
    return isinstance(value, Variable)


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z\d])(?=[A-Z])|(?<=.)(?=[A-Z][a-z])", "_", name).lower()

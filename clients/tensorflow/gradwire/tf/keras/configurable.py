"""Classes whose annotated attributes are their parameters, and so their configurations."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from inspect import Parameter, Signature
from typing import Any, Literal, TypeVar, dataclass_transform

T = TypeVar("T")
_UNSET: Any = object()
#: The parameters of bases.
_KNOWN: dict[type, list[str]] = {}
#: The parameters of ``options``, and their defaults.
_SHARED: dict[type, Mapping[str, Any]] = {}


def unset(*, init: Literal[False] = False) -> Any:
    """An attribute that is no parameter, and None until it is set."""
    del init  # which shows type checkers that it is no parameter
    return _UNSET


def option(*, default: Any, kw_only: bool = False, alias: str | None = None) -> Any:
    """A parameter by its name alone, or of another name, as type checkers see it."""
    del kw_only, alias
    return default


@dataclass_transform(eq_default=False, field_specifiers=(unset, option))
def options(kind: type[T]) -> type[T]:
    """Parameters of several classes, which derive from it: those of the last base come first."""
    _SHARED[kind] = _own_fields(kind)
    return kind


@dataclass_transform(eq_default=False, field_specifiers=(unset, option))
def configurable(kind: type[T]) -> type[T]:
    """A class whose annotated attributes are the parameters of its ``__init__``.

    Their values are attributes, by way of a method ``_option(name, value)`` if the class has one;
    those of parameters that the base has, too, are given to its ``__init__``, with all further
    keyword arguments. Then ``__post_init__`` is called, if there is one that the base's has not
    called. Names that begin with an underscore are no parameters.
    """
    base = next(each for each in kind.__mro__[1:] if "__init__" in vars(each))
    defaults: dict[str, Any] = {}
    for each in kind.__mro__[::-1]:
        defaults |= {} if each in base.__mro__ else _SHARED.get(each, {})
    defaults |= _own_fields(kind)
    passed = _KNOWN[base] = _KNOWN.get(base) or parameters(base)
    kept = [name for name in defaults if name not in passed]
    every = [
        Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=default)
        for name, default in {"self": Parameter.empty, **defaults}.items()
    ]
    if not set(passed) <= set(defaults):
        every.append(Parameter("kwargs", Parameter.VAR_KEYWORD))
    signature = Signature(every)
    finish = getattr(kind, "__post_init__", None)
    if finish in [getattr(vars(each).get("__init__"), "finish", None) for each in kind.__mro__[1:]]:
        finish = None

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807 - it is one
        bound = signature.bind(self, *args, **kwargs)
        values = defaults | bound.arguments
        super(kind, self).__init__(
            **{name: values[name] for name in defaults if name in passed},
            **values.get("kwargs", {}),
        )
        convert = getattr(self, "_option", None)
        for name in kept:
            value = values[name]
            setattr(self, name, value if convert is None else convert(name, value))
        if finish is not None:
            finish(self)

    __init__.__signature__ = signature  # type: ignore[attr-defined]  # inspect reads it
    __init__.finish = finish  # type: ignore[attr-defined]  # which derived classes do not call
    __init__.__qualname__ = f"{kind.__qualname__}.__init__"
    kind.__init__ = __init__  # type: ignore[method-assign]  # that of the base
    return kind


def _own_fields(kind: type) -> Mapping[str, Any]:
    """The parameters that a class declares, with defaults, which are no attributes of it."""
    found = {}
    for name, annotation in inspect.get_annotations(kind).items():
        if name.startswith("_") or str(annotation).startswith(("ClassVar", "typing.ClassVar")):
            continue
        default = vars(kind).get(name, Parameter.empty)
        if default is _UNSET:
            setattr(kind, name, None)
            continue
        found[name] = default
        if default is not Parameter.empty:
            delattr(kind, name)
    return found


def parameters(kind: type) -> list[str]:
    """The names of a class's parameters, its bases' included as far as ``**kwargs`` reach."""
    found: list[str] = []
    for base in kind.__mro__:
        if "__init__" not in vars(base) or base is object:
            continue
        given = list(inspect.signature(vars(base)["__init__"]).parameters.values())[1:]
        found += [
            each.name
            for each in given
            if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)
            and each.name not in found
        ]
        if not any(each.kind is each.VAR_KEYWORD for each in given):
            break
    return found

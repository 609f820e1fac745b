"""Signatures as help and notebooks show them: each option by its name, and what comes back."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from inspect import Parameter, Signature
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

#: How options are declared: ``**options: Unpack[GradientOptions]``.
_UNPACKED = "Unpack["


def signature_of(function: Callable[..., Any], returns: str | None = None) -> Signature:
    """A function's signature with its options as keywords, and perhaps another return type."""
    declared = inspect.signature(function)
    parameters = [*declared.parameters.values()]
    if parameters and f"{parameters[-1].annotation}".startswith(_UNPACKED):
        options = function.__globals__[in_brackets(parameters.pop().annotation)]
        parameters += map(_option, options.__annotations__.items())
        declared = declared.replace(parameters=parameters)
    return declared if returns is None else declared.replace(return_annotation=returns)


def with_keywords(function: F, returns: str | None = None) -> F:
    """Let a function show its options as keywords, and perhaps another return type."""
    shown: Any = function
    shown.__signature__ = signature_of(getattr(function, "__wrapped__", function), returns)
    return function


def in_brackets(annotation: str) -> str:
    """The text in the brackets of an annotation: ``Gradient`` of ``Call[Gradient]``."""
    return annotation.partition("[")[2][:-1]


def _option(named: tuple[str, Any]) -> Parameter:
    name, declared = named
    annotation = getattr(declared, "__forward_arg__", declared)
    return Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=annotation)

"""Calls of functions that programs can call, in few words."""

from typing import Any

from gradwire_engine.check import Call, evaluate


def call(function: str, *args: Any, **kwargs: Any) -> Call:
    """A call as it is written in a program."""
    return Call(function, args, kwargs)


def calls(functions: str, *args: Any, **kwargs: Any) -> list[Call]:
    """The same call of several functions, whose names spaces part."""
    return [Call(function, args, kwargs) for function in functions.split()]


def results(function: str, *args: Any, **kwargs: Any) -> list[Any]:
    """What a call gives."""
    made = Call(function, args, kwargs)
    return evaluate(made.record, made.values)


def result(function: str, *args: Any, **kwargs: Any) -> Any:
    """The first that a call gives."""
    return results(function, *args, **kwargs)[0]

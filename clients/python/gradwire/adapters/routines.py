"""Routines: functions of flat arrays, for libraries with their own derivatives and batches.

Such a library wants to know what a function gives without calling it, and asks for other functions
made of it: with its gradient, pushing tangents forward, pulling cotangents back, mapped over axes.
Each is a ``Routine`` again, so that these nest to any order, and each call of one is one request.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gradwire.bfloat16 import FLOATING, result_type
from gradwire.errors import APIError
from gradwire.hidden import plain
from gradwire.tracing import transforms
from gradwire.tracing.functions import Function, Runs, inline_of
from gradwire.tracing.recorded import as_recorded, numbers_of
from gradwire.tracing.shapes import Aval, stand_in
from gradwire.tracing.structures import LEAF

#: A recorded function from several arrays to several arrays.
Flat: TypeAlias = Callable[..., tuple[Any, ...]]
Avals: TypeAlias = tuple[Aval, ...]
#: The shapes and dtypes of results for those of arguments.
Infer: TypeAlias = Callable[[Avals], Avals]
Positions: TypeAlias = tuple[int, ...]


class Routine:
    """A function of a fixed number of arrays with several results."""

    def __init__(
        self,
        like: Function[..., Any],
        flat: Flat,
        types: Infer,
        names: Sequence[str],
        *,
        transposed: Callable[[], Routine] | None = None,
        linear: int = 0,
    ) -> None:
        #: The number of its last arguments in which it is linear.
        self.linear: int = linear
        #: The results' shapes and dtypes.
        self.types: Infer = types
        self._like = like
        self._flat = flat
        self._names = tuple(names)
        self._transposed = transposed
        self._function: Function[..., Any] = Function(
            like, like.own_client, inline=flat, names=names
        )
        self._made: dict[Any, Routine] = {}

    def __call__(self, *arrays: Any) -> tuple[NDArray[Any], ...]:
        """Its results for these arrays and Python numbers, by one request."""
        as_given = (float, complex)
        answer = self._function(
            *[a if type(a) in as_given else plain(a, "an argument") for a in arrays]
        )
        return tuple([np.asarray(part) for part in answer])

    def with_gradient(self, sources: Positions) -> Routine:
        """Its result, one number, with the gradients in the arguments at some positions."""

        def both(*args: Any) -> tuple[Any, ...]:
            value, gradients = transforms.value_and_grad(lambda *a: self._flat(*a)[0], sources)(
                *args
            )
            return value, *gradients

        def types(avals: Avals) -> Avals:
            return *self.types(avals), *[avals[i] for i in sources]

        return self._derived(("with_gradient", sources), both, types, self._names)

    def pushed(self, sources: Positions, targets: Positions) -> Routine:
        """The JVP of some results; tangents of some arguments follow the arguments."""

        def along(*args: Any) -> tuple[Any, ...]:
            moving, primals, tangents = self._at(args, sources, targets, len(sources))
            derivatives: tuple[Any, ...] = transforms.jvp(moving, primals, tangents)[1]
            return derivatives

        def types(avals: Avals) -> Avals:
            found = self.types(avals[: len(avals) - len(sources)])
            return tuple([found[i] for i in targets])

        return self._derived(
            ("pushed", sources, targets),
            along,
            types,
            (*self._names, *[f"{self._names[i]}_dot" for i in sources]),
            transposed=lambda: self.pulled(sources, targets),
            linear=len(sources),
        )

    def pulled(self, sources: Positions, targets: Positions) -> Routine:
        """The VJP of some results, in some arguments; cotangents follow the arguments."""

        def back(*args: Any) -> tuple[Any, ...]:
            moving, primals, cotangents = self._at(args, sources, targets, len(targets))
            gradients: tuple[Any, ...] = transforms.vjp(moving, primals, cotangents)[1]
            return gradients

        def types(avals: Avals) -> Avals:
            return tuple([avals[i] for i in sources])

        return self._derived(
            ("pulled", sources, targets),
            back,
            types,
            (*self._names, *[f"out{i}_bar" for i in targets]),
            transposed=lambda: self.pushed(sources, targets),
            linear=len(targets),
        )

    def mapped(self, axes: tuple[int | None, ...]) -> Routine:
        """The routine mapped over these axes of its arguments; results have the axis first."""
        if all(axis is None for axis in axes):
            return self

        def types(avals: Avals) -> Avals:
            pairs = list(zip(avals, axes, strict=True))
            count = next(aval.shape[axis] for aval, axis in pairs if axis is not None)
            found = self.types(tuple([_without(aval, axis) for aval, axis in pairs]))
            return tuple([Aval((count, *aval.shape), aval.dtype) for aval in found])

        def transposed() -> Routine:
            other = self.transposed
            return other.mapped((*axes[: len(axes) - self.linear], *[0] * other.linear))

        return self._derived(
            ("mapped", axes),
            transforms.vmap(self._flat, axes).inline,
            types,
            self._names,
            transposed=transposed,
            linear=self.linear,
        )

    @property
    def transposed(self) -> Routine:
        """The transpose in its last arguments, in which it is linear."""
        if self._transposed is None:
            raise TypeError(f"{self._like!r} is not linear")
        return self._transposed()

    def _at(
        self, args: tuple[Any, ...], sources: Positions, targets: Positions, directions: int
    ) -> tuple[Flat, list[Any], tuple[Any, ...]]:
        """The function of some arguments alone, where these are, and the directions after them."""
        primals, rest = args[: len(args) - directions], args[len(args) - directions :]

        def moving(*moved: Any) -> tuple[Any, ...]:
            given = list(primals)
            for i, value in zip(sources, moved, strict=True):
                given[i] = value
            found = self._flat(*given)
            return tuple([found[i] for i in targets])

        return moving, [primals[i] for i in sources], rest

    def _derived(
        self, key: Any, flat: Flat, types: Infer, names: Sequence[str], **rest: Any
    ) -> Routine:
        made = self._made.get(key)
        if made is None:
            made = self._made[key] = Routine(self._like, flat, types, names, **rest)
        return made


class Nested:
    """A function of nested arguments as a routine of their leaves, for one structure."""

    def __init__(
        self,
        f: Callable[..., Any],
        client: Runs | None,
        arguments: Callable[[Sequence[Any]], tuple[Sequence[Any], Mapping[str, Any]]],
        names: Sequence[str],
        flatten: Callable[[Any], tuple[Sequence[Any], Any]] = numbers_of,
        *,
        number: bool = False,
    ) -> None:
        #: True if unknown results are assumed to be one number.
        self._number = number

        def parts(leaves: Sequence[Any]) -> tuple[Sequence[Any], Any]:
            args, kwargs = arguments(leaves)
            found, structure = flatten(inline_of(f)(*args, **kwargs))
            return as_recorded(found), structure

        def by_leaves(*leaves: Any) -> Any:
            found, structure = parts(leaves)
            return _ResultTypes(structure, tuple([part.aval for part in found]))

        like: Function[..., Any] = Function(f, client)
        self._function: Function[..., Any] = Function(f, client, inline=by_leaves, names=names)
        self._known: dict[Avals, _ResultTypes] = {}
        #: The function of the leaves.
        self.routine: Routine = Routine(
            like,
            lambda *leaves: tuple(parts(leaves)[0]),
            lambda avals: self._result(avals).avals,
            names,
        )

    def structure(self, avals: Avals) -> Any:
        """The structure of its results for leaves of these types, as ``flatten`` returns it."""
        return self._result(avals).structure

    def _result(self, avals: Avals) -> _ResultTypes:
        """The results' shapes and dtypes: by NumPy's rules, else by evaluating it at ones."""
        known = self._known.get(avals)
        if known is None:
            asked = self._function.traced(*[stand_in(aval) for aval in avals])
            try:
                traced, _ = self._function.client.run(asked)
                known = traced.result([])
            except APIError:
                if not self._number:
                    raise
                known = _ResultTypes(LEAF, (_number_of(avals),))
            self._known[avals] = known
        return known


class _ResultTypes:
    """The results' shapes and dtypes, by a recording."""

    def __init__(self, structure: Any, avals: Avals) -> None:
        self.structure = structure
        self.avals = avals


def _number_of(avals: Avals) -> Aval:
    kinds = [aval.dtype for aval in avals if aval.dtype.kind in FLOATING]
    return Aval((), result_type(*kinds) if kinds else np.dtype(np.float64))


def _without(aval: Aval, axis: int | None) -> Aval:
    if axis is None:
        return aval
    rest = list(aval.shape)
    del rest[axis]
    return Aval(tuple(rest), aval.dtype)

"""Objectives that an engine evaluates: programs at a point, with their derivatives."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from itertools import count
from typing import Any, Self

import numpy as np
from gradwire_engine import Composite, Engine
from gradwire_engine.answer import Answer, Array, Kind, Leaf, Names, Poll, Promotion, Query
from gradwire_engine.errors import EngineError, InputError, OverBudget, Place
from gradwire_engine.nesting import leaves, rebuild
from gradwire_engine.polling import no_deadline
from gradwire_engine.program import Program
from scipy.sparse import coo_array, issparse

from gradwire_solvers.layout import Layout, Placement, leaf_named
from gradwire_solvers.objective import Jacobian, Notes, Objective, Work

#: Jacobians of fewer elements are dense, and those with a larger share of nonzeros.
_SPARSE_ELEMENTS, _SPARSE_SHARE = 10_000, 0.1
#: Numbers the runs, whose fixed variables are residents under names of their own.
_runs = count()


class LocalProblem:
    """A program's target as a function of the sources, one engine's query for each evaluation.

    All other variables stay what they are: what is computed from them alone is computed once.
    The target of residuals may be nested, and its value is half the sum of their squares. With
    ``exact``, each evaluation is what NumPy gives operation by operation, so all runs have the same
    bits. ``poll`` is called during evaluations.

    Raises: what ``Layout`` does.
    """

    def __init__(
        self,
        engine: Engine,
        program: Program,
        variables: Mapping[str, Any],
        sources: Names = None,
        target: Names = None,
        *,
        of_residuals: bool = False,
        promotion: Promotion = "numpy",
        exact: bool = False,
        poll: Poll = no_deadline,
    ) -> None:
        self.layout = Layout(variables, sources)
        self.notes = Notes()
        self._roundoff = 0.0
        #: That of all functions of one problem.
        self.work = Work()
        self._engine, self._program, self._poll = engine, program, poll
        self._target, self._promotion, self._of_residuals = target, promotion, of_residuals
        #: Whether each evaluation is what NumPy gives operation by operation.
        self.exact = exact
        self._at = "/target"
        #: Pointers to what stands elsewhere in the request, by the fields that errors point to.
        self._elsewhere: Mapping[str, str] = {}
        paths, run = self.layout.paths, f"run {next(_runs)}: "
        self._variables: dict[str, Any] = _resident(variables, frozenset(paths), run)
        self._place = Placement(self._variables, paths)
        #: The rows of a minibatch, one array for each of its variables.
        self._rows: list[Array] = []
        self._structure: Any = None
        self._sparse: bool | None = None

    @property
    def start(self) -> Array:
        """The sources' values in the request."""
        return self.layout.start

    @property
    def roundoff(self) -> float:
        """The relative spacing of numbers of the precision of sources, or of the latest values."""
        return max(self.layout.roundoff, self._roundoff)

    def other(
        self, program: str | Mapping[str, Any] | Program | None, target: Names, at: str
    ) -> Self:
        """Another function of the same sources: of another program, or another target of this one.

        ``at`` points to it in the request.

        Raises: what parsing does.
        """
        other = copy(self)
        other._target, other._at = target, at
        other._structure = other._sparse = None
        other._elsewhere = {"target" if program is None else "program": at}
        if program is not None:
            with other.placed():
                other._program = self._engine.parse(program, self._poll)
        return other

    def minibatches(self, names: Sequence[str]) -> tuple[int, Callable[[Array], Objective]]:
        """The number of rows of these variables, and a function from some rows to their objective.

        Raises: ``UnknownName``; ``InputError`` unless all have as many rows and none is a source.
        """
        at = "/minibatch/variables"
        found = [leaf_named(self._variables, name, f"{at}/{i}") for i, name in enumerate(names)]
        paths = [path for path, _ in found]
        for i, (path, leaf) in enumerate(found):
            place = Place(id=path[:80], pointer=f"{at}/{i}")
            if self.layout.find(path) is not None:
                raise InputError("a source has no minibatches", at=place)
            if path in paths[:i]:
                raise InputError("the variable is named twice", at=place)
            if not np.ndim(leaf.value):
                raise InputError("a number has no rows", at=place)
            if len(leaf.value) != len(found[0][1].value):
                shapes = ", ".join(f"{name[:40]} {np.shape(x.value)}" for name, x in found)
                detail = f"the variables have different numbers of rows: {shapes}"
                raise InputError(detail, at=place)
        arrays = [np.asarray(leaf.value) for _, leaf in found]
        place_rows = Placement(self._variables, [*self.layout.paths, *paths])

        def batch(rows: Array) -> Objective:
            problem = copy(self)
            problem._place = place_rows
            problem._rows = [array[rows] for array in arrays]
            return problem

        return len(arrays[0]), batch

    # A number

    def value_and_gradient(self, x: Array) -> tuple[float, Array]:
        """``f(x)`` and ``∇f(x)``; of residuals, ``½ Σ rᵢ²`` and ``Jᵀ r``.

        Raises: ``InputError`` unless the target is one real number.
        """
        if self._of_residuals:
            residuals = self.residuals(x)
            answer = self._answer("gradient", x, self._structure)
            return 0.5 * float(residuals @ residuals), self.layout.flat(answer.gradients)
        answer = self._answer("gradient", x)
        value = answer.value
        if not isinstance(value, np.ndarray | np.generic) or value.ndim or value.dtype.kind == "c":
            raise self._no_number(value)
        if value.dtype.kind == "f":
            self._roundoff = float(np.finfo(value.dtype).eps)
        return float(value), self.layout.flat(answer.gradients)

    def hessian_product(self, x: Array, v: Array) -> Array:
        """``H(x) v``, by forward over reverse; of residuals, ``Jᵀ J v + Σ rᵢ ∇²rᵢ v``."""
        if self._of_residuals:
            curved = self.weighted_product(x, self.residuals(x), v)
            return curved + self.gauss_newton_product(x, v)
        return self.layout.flat(self._answer("hvp", x, self.layout.arrays(v)).derivatives["hvp"])

    def hessian(self, x: Array) -> Array:
        """``H(x)``."""
        rows = self._answer("hessian", x).derivatives["hessian"]
        parts = self.layout.parts
        sizes = [part.stop - part.start for part in parts]
        blocks = [
            [np.reshape(block, (height, width)) for block, width in zip(row, sizes, strict=True)]
            for row, height in zip(rows, sizes, strict=True)
        ]
        return np.block(blocks).astype(np.float64, copy=False)

    # Several numbers

    def residuals(self, x: Array) -> Array:
        """``r(x)``: all arrays of the target, one after the other.

        Raises: ``InputError`` unless they are real.
        """
        answer = self._answer("evaluate", x)
        arrays = leaves(answer.value)
        for array in arrays:
            if np.iscomplexobj(array):
                detail, at = f"expected real numbers, got {array.dtype}", Place(pointer=self._at)
                hint = "return real and imaginary part as two arrays"
                raise InputError(detail, at=at, hint=hint)
        self._structure = answer.value
        return np.concatenate([np.zeros(0), *map(np.ravel, arrays)], dtype=np.float64)

    @property
    def is_array(self) -> bool:
        """True if the target, once evaluated, is one array and not nested."""
        return isinstance(self._structure, np.ndarray | np.generic)

    def nested(self, residuals: Array) -> Any:
        """Residuals in the structure of the target."""
        at = 0

        def part(like: Array) -> Array:
            nonlocal at
            start, at = at, at + np.size(like)
            return residuals[start:at].reshape(np.shape(like))

        return rebuild(self._structure, part)

    def jacobian(self, x: Array) -> Jacobian:
        """``J(x)``, by colours where few of its many elements may differ from zero."""
        if self._structure is None:
            self.residuals(x)
        if not self.is_array:
            return self._columns(x)
        size = np.size(self._structure)
        if self._sparse is None:
            self._sparse = size * self.layout.size >= _SPARSE_ELEMENTS and self._is_sparse(x, size)
        if self._sparse:
            return self._nonzeros(x, size)
        blocks = self._answer("jacobian", x).derivatives["jacobian"]
        return np.hstack([np.reshape(block, (size, -1)) for block in blocks], dtype=np.float64)

    def dense(self, found: Jacobian) -> Array:
        """A Jacobian as an array.

        Raises: ``OverBudget`` where that is too large.
        """
        if issparse(found):
            self.afford(found.shape, "needs a dense Jacobian")
            found = found.toarray()
        array: Array = found
        return array

    def afford(self, shape: tuple[int, int], what: str) -> None:
        """Refuse a method that ``what`` of this shape, if that is too large.

        Raises: ``OverBudget``.
        """
        nbytes, most = 8 * math.prod(shape), self._engine.limits.array_bytes
        if nbytes > most:
            detail = f"the method {what} of {nbytes:,} bytes, more than the {most:,} allowed"
            hint = "L-BFGS-B, trf with lsmr, gauss-newton, krylov and df-sane keep none"
            raise OverBudget(detail, at=Place(pointer="/method"), hint=hint)

    def weighted_product(self, x: Array, weights: Array, v: Array) -> Array:
        """``Σ wᵢ ∇²rᵢ(x) v``."""
        if self._structure is None:
            self.residuals(x)
        vectors = [*self.layout.arrays(v), *leaves(self.nested(weights))]
        return self.layout.flat(self._answer("hvp", x, vectors).derivatives["hvp"])

    def triangle(self, x: Array) -> Array:
        """``R`` of ``Q R = [J(x) r(x)]``."""
        residuals = self.residuals(x)
        return triangle_of(np.column_stack([self.dense(self.jacobian(x)), residuals]))

    def gauss_newton_product(self, x: Array, v: Array) -> Array:
        """``J(x)ᵀ J(x) v``, by a product with each."""
        return self.layout.flat(self._answer("gradient", x, self._along(x, v)).gradients)

    def product(self, x: Array, v: Array) -> Array:
        """``J(x) v``."""
        arrays = leaves(self._along(x, v))
        return np.concatenate([np.zeros(0), *map(np.ravel, arrays)], dtype=np.float64)

    def transposed_product(self, x: Array, w: Array) -> Array:
        """``J(x)ᵀ w``, where ``r(x)`` has been evaluated."""
        return self.layout.flat(self._answer("gradient", x, self.nested(w)).gradients)

    def _along(self, x: Array, v: Array) -> Any:
        return self._answer("jvp", x, self.layout.arrays(v)).derivatives["jvp"]

    def _columns(self, x: Array) -> Array:
        """The Jacobian of a nested target: a derivative along every element of the sources."""
        units = np.eye(self.layout.size)
        tangents = [
            units[:, start:stop].reshape(self.layout.size, *shape)
            for _, shape, _, start, stop in self.layout.parts
        ]
        batch = {f"tangents.{i}": 0 for i in range(len(tangents))}
        columns = leaves(self._answer("jvp", x, tangents, batch=batch).derivatives["jvp"])
        flat = [np.reshape(column, (self.layout.size, -1)) for column in columns]
        return np.concatenate(flat, axis=1, dtype=np.float64).T

    def _is_sparse(self, x: Array, size: int) -> bool:
        """True if a pattern is found, and few elements are in it."""
        try:
            found = self._nonzeros(x, size)
        except OverBudget:
            return False
        return bool(found.nnz <= _SPARSE_SHARE * size * self.layout.size)

    def _nonzeros(self, x: Array, size: int) -> Jacobian:
        """The Jacobian in compressed sparse rows."""
        blocks = self._answer("jacobian", x, format="coo").derivatives["jacobian"]
        depth = np.ndim(self._structure)
        rows, columns, values = [], [], []
        for block, part in zip(blocks, self.layout.parts, strict=True):
            places = block["indices"].T
            rows.append(_raveled(places[:depth], np.shape(self._structure)))
            columns.append(part.start + _raveled(places[depth:], part.shape))
            values.append(np.asarray(block["values"], np.float64))
        places = np.concatenate(rows), np.concatenate(columns)
        return coo_array((np.concatenate(values), places), (size, self.layout.size)).tocsr()

    # Asking

    def _answer(self, kind: Kind, x: Array, vectors: Any = None, **asked: Any) -> Answer:
        query = self._query(kind, **asked)
        variables = self._place([*self.layout.arrays(x), *self._rows])
        with self.placed():
            call = self._engine.call(self._program, variables, query, vectors)
            answer = call.replay(self._poll)
        self.work.add(call)
        self.notes = Notes(answer.warnings, answer.unconnected, answer.nonfinite)
        return answer

    def _query(self, kind: Kind, **asked: Any) -> Query:
        return Query(
            kind,
            target=self._target,
            sources=None if kind == "evaluate" else self.layout.paths,
            unconnected="zero",
            promotion=self._promotion,
            exact=self.exact,
            **asked,
        )

    @contextmanager
    def placed(self) -> Iterator[None]:
        """Errors in another program, or about another target, point to that."""
        try:
            yield
        except EngineError as error:
            at = error.at or Place()
            field, *below = (at.pointer or "/program")[1:].split("/")
            if (instead := self._elsewhere.get(field)) is not None:
                error.at = replace(at, pointer="/".join([instead, *below]))
            raise

    def _no_number(self, value: Any) -> InputError:
        if isinstance(value, np.ndarray | np.generic):
            shape = f" of shape {value.shape}" if value.ndim else ""
            got, hint = f"{value.dtype}{shape}", "return a sum or a mean"
            if value.dtype.kind == "c":
                hint = "return its absolute value"
        else:
            got, hint = "several values", "return a sum of them"
        detail = f"what is minimised is one real number, got {got}"
        return InputError(detail, at=Place(pointer=self._at), hint=hint)


def triangle_of(matrix: Array) -> Array:
    """The triangular factor of a matrix, or of others' triangular factors, one below the other."""
    triangle: Any = np.linalg.qr(matrix, mode="r")
    return np.asarray(triangle)


def local(objective: Objective, at: str) -> LocalProblem:
    """The objective, where what ``at`` points to needs more than values and gradients.

    Raises: ``InputError`` for data that is divided among machines.
    """
    if not isinstance(objective, LocalProblem):
        hint = "L-BFGS-B, adam and gauss-newton add up what each machine computes"
        detail = "this needs all data on one machine"
        raise InputError(detail, at=Place(pointer=at), hint=hint)
    return objective


def _raveled(indices: Array, shape: tuple[int, ...]) -> Array:
    """Places in an array of this shape as places in row-major order."""
    if not shape:
        return np.zeros(indices.shape[1], np.int64)
    places: Array = np.ravel_multi_index(tuple(indices), shape)
    return places


def _resident(value: Any, sources: frozenset[str], run: str, path: str = "") -> Any:
    """Variables, those that are no sources as residents of this run."""
    if isinstance(value, Leaf):
        if path in sources or value.resident is not None or isinstance(value.value, str):
            return value
        return value._replace(resident=f"{run}{path}")
    below = f"{path}." if path else ""
    if isinstance(value, Composite):
        return value.of(**{k: _resident(v, sources, run, f"{below}{k}") for k, v in value.items()})
    if isinstance(value, Mapping):
        return {k: _resident(v, sources, run, f"{below}{k}") for k, v in value.items()}
    return [_resident(v, sources, run, f"{below}{i}") for i, v in enumerate(value)]

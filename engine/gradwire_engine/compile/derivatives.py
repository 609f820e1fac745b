"""The derivatives that a query asks for, in the structure of its sources or of its target."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradwire_engine.answer import Array, Notice, Query, Unconnected
from gradwire_engine.autodiff.forward import pushforward
from gradwire_engine.autodiff.paths import Cut, assignments_between, cut_between, dtype_reason
from gradwire_engine.autodiff.reverse import pullback
from gradwire_engine.autodiff.slices import gathered, slices
from gradwire_engine.compile.blocks import Coordinates, Dense, Form
from gradwire_engine.compile.compiled import Summed
from gradwire_engine.compile.names import Source, Sources
from gradwire_engine.diagnose.differences import BESIDE, Differences
from gradwire_engine.errors import DerivativeError, InputError, Place
from gradwire_engine.nesting import leaves, rebuild
from gradwire_engine.ops.builder import Var
from gradwire_engine.record.calculus import GRADIENT, summed, warn_of_real_part
from gradwire_engine.record.recording import Recording
from gradwire_engine.tape import ArrayType

#: The fields of the vectors by which a kind of query is multiplied.
VECTORS = {
    "gradient": "output_gradients",
    "check": "output_gradients",
    "jvp": "tangents",
    "hvp": "vectors",
}
#: The kinds that take a vector for each source, by whose names the sources are known.
ALONG = ("jvp", "hvp")


class Derivatives:
    """Records the derivatives of one kind; each is a nested structure of variables and None.

    ``watched`` are the slots that derivatives may be asked in, all where it is None.
    """

    def __init__(
        self,
        recorder: Recording,
        query: Query,
        targets: Any,
        sources: Sources,
        vectors: Any,
        watched: frozenset[int] | None,
    ) -> None:
        self.r = recorder
        self.b = recorder.b
        self.query = query
        self.nested_targets = targets
        self.targets: list[Var] = leaves(targets)
        self.watched = watched
        if watched is not None:  # a target's derivative in itself needs no recording
            self.watched = watched.union(target.slot for target in self.targets)
        self.nested = sources.nested
        self.sources = sources.items
        self.groups = [source.group for source in sources.items]
        self.every = [var for group in self.groups for var in group]
        self.vectors: Sequence[Array | None] | None = vectors
        coo = query.format == "coo"
        self.form: Form = Coordinates(recorder.concrete) if coo else Dense()
        self.unconnected: dict[str, Unconnected] = {}

    def record(self) -> dict[str, Any]:
        """The results that the query's kind asks for, by their names in the answer."""
        rules: dict[str, Callable[[], dict[str, Any]]] = {
            "gradient": self._gradient,
            "check": self._check,
            "jacobian": self._jacobian,
            "hessian": self._hessian,
            "jvp": self._jvp,
            "hvp": self._hvp,
        }
        try:
            derivatives = rules[self.query.kind]()
        except DerivativeError as error:
            error.at = error.at or self.r.program.place(self.b.origin)
            raise
        self._warn_of_state()
        return derivatives

    def seeds(self) -> list[Var]:
        """The cotangents of the targets: those of the request, or ones."""
        return self._along(self.targets)

    def _warn_of_state(self) -> None:
        """Warn of elements assigned on a variable, which end a path where a local array would not.

        Who writes ``x.assign(v)`` knows that; ``x[i] = v`` looks like any other statement.
        """
        state, program = self.r.state, self.r.program
        assigned = [var.slot for versions in state.versions.values() for var in versions[1:]]
        found = assignments_between(self.b, assigned, self.every, self.targets) if assigned else ()
        for origin, slot in {self.b.instructions[slot].origin: slot for slot in found}.items():
            place = program.place(origin)
            if place.op == "setitem":
                path = state.owners[slot][0]
                detail = f"{path} is a variable, so gradients end where its elements are assigned"
                hint = f"bind {path} = copy({path}) first to let them through"
                self.r.warnings.append(Notice("state", f"{detail}; {hint}", place))

    def _gradient(self) -> dict[str, Any]:
        """``Σ_t J_tᵀ t_bar`` for each source, the cotangents ones by default."""
        return {"gradients": self._like_sources(self._gradients())}

    def _check(self) -> dict[str, Any]:
        """The gradient and the differences in each source that may have one."""
        seeds, start = self.seeds(), len(self.b.instructions)
        gradients = self._gradients(seeds)
        recorded = Differences(self.b, self.targets, seeds, start, self.query)
        beside = {
            source.path: recorded.beside(bar, source.group)
            for source, bar in zip(self.sources, gradients, strict=True)
            if self._barred(source) is None
        }
        singly = {path: each["elements"][2] for path, each in beside.items() if "elements" in each}
        differences = [singly.get(source.path) for source in self.sources]
        found = {"gradients": gradients, "differences": differences}
        return {name: self._like_sources(each) for name, each in found.items()} | {BESIDE: beside}

    def _gradients(self, seeds: Sequence[Var] | None = None) -> list[Any]:
        """The gradient in each source, None or zeros where there is none."""
        seeds = self.seeds() if seeds is None else seeds
        reads = self._gathered() if self.query.slices else [None] * len(self.sources)
        groups = [
            group if read is None else read for group, read in zip(self.groups, reads, strict=True)
        ]
        bars = iter(pullback(self.b, self.targets, seeds, [var for g in groups for var in g]))
        found: list[Any] = []
        for source, group, read in zip(self.sources, groups, reads, strict=True):
            own = [next(bars) for _ in group]
            total = summed([group], own)[0] if read is None else self._slices(read, own)
            found.append(self._found(source, total))
        return found

    def _gathered(self) -> list[list[Var] | None]:
        """The slices of each variable that is only gathered from; None of other sources."""
        found = gathered(self.b, self.targets, self.groups)
        pairs = zip(self.sources, found, strict=True)
        return [None if s.leaf is None or s.whole is not None else reads for s, reads in pairs]

    def _slices(self, reads: Sequence[Var], bars: Sequence[Var | None]) -> Any:
        found = slices(reads, bars)
        parts = None if found is None else found.fields(self.b)
        return parts and (Summed(parts) if self.query.slices == "summed" else parts)

    def _jacobian(self) -> dict[str, Any]:
        """``∂ target / ∂ source``, of shape ``target.shape + source.shape``."""
        if len(self.targets) != 1 or self.nested_targets is not self.targets[0]:
            at, hint = Place(pointer="/target"), "stack what is to be differentiated at once"
            raise InputError("a Jacobian is of one array", at=at, hint=hint)
        (target,) = self.targets
        found = self.form.row(target, self.sources, self.query.mode)
        pairs = zip(self.sources, found, strict=True)
        return {"jacobian": self._in_sources([self._found(*p, target) for p in pairs])}

    def _hessian(self) -> dict[str, Any]:
        """``∂² target / ∂ source ∂ source'``: the sources' structure in itself.

        Zeros where a gradient does not depend on a source, null where there is no gradient.
        """
        gradients = self._gradients()
        present = [bar for bar in gradients if bar is not None]
        warn_of_real_part(self.b, present, self.targets, GRADIENT)
        rows = [self._in_sources(self._hessian_row(i, gradients)) for i in range(len(gradients))]
        hessian = rebuild(self.nested, lambda i: None if i is None else rows[i])
        return {"gradients": self._like_sources(gradients), "hessian": hessian}

    def _hessian_row(self, number: int, gradients: Sequence[Var | None]) -> list[Any]:
        """The derivatives of one gradient in all sources."""
        bar = gradients[number]
        if bar is None:
            return [None] * len(gradients)
        before, own, after = self.sources[:number], self.sources[number], self.sources[number + 1 :]
        blocks = self.form.row(bar, [*before, *after], "auto")
        blocks.insert(number, self.form.square(self.targets, bar, own))
        row = zip(gradients, self.sources, blocks, strict=True)
        return [
            None if other is None else self.form.zeros(bar, source.group[0]) if x is None else x
            for other, source, x in row
        ]

    def _jvp(self) -> dict[str, Any]:
        """``Σ_s J_s s_dot`` in the target's structure, null where no source reaches it."""
        found = iter(pushforward(self.b, self.targets, self.every, self._tangents()))
        reached = pullback(self.b, self.targets, self._ones(self.targets), self.every)
        for source, bar in zip(self.sources, summed(self.groups, reached), strict=True):
            self._found(source, bar)  # raises: there is none
        zero = self.query.unconnected == "zero"

        def product(target: Var) -> Var | None:
            dot = next(found)
            return self._or_zeros(dot, target) if zero else dot

        return {"jvp": rebuild(self.nested_targets, product)}

    def _hvp(self) -> dict[str, Any]:
        """The gradient and ``H v``, both in the structure of the vectors.

        Of several values, those of ``Σ_t w_t t``, where the weights follow the vectors.
        """
        given, count = self.vectors, len([group for group in self.groups if group])
        weighted = given is not None and len(given) == count + len(self.targets)
        weights = None
        if given is not None and weighted:
            self.vectors, weights = given[:count], given[count:]
        tangents = self._tangents()
        self.vectors = weights
        gradients = self._gradients()
        present = [bar for bar in gradients if bar is not None]
        found = iter(pushforward(self.b, present, self.every, tangents))
        products = [bar and self._or_zeros(next(found), bar) for bar in gradients]
        return {"gradients": self._like_sources(gradients), "hvp": self._like_sources(products)}

    # Parts

    def _like_sources(self, found: Sequence[Any]) -> Any:
        """Derivatives of their sources' types: those of a tensor in parts come with the others."""
        pairs = zip(self.sources, found, strict=True)
        return self._in_sources(
            [
                bar if bar is None or s.whole is None else s.whole.of(values=bar).fields(self.b)
                for s, bar in pairs
            ]
        )

    def _in_sources(self, found: Sequence[Any]) -> Any:
        return rebuild(self.nested, lambda number: None if number is None else found[number])

    def _found(self, source: Source, total: Any, target: Var | None = None) -> Any:
        """A derivative in a source, or what it is given as where there is none, with the reason."""
        cut = self._barred(source)
        if cut is None and total is not None:
            if self.vectors is None and self.query.kind != "jvp":
                which = f"value is complex and {source.path}"
                warn_of_real_part(self.b, self.targets, source.group, which)
            return total
        reason = cut or cut_between(self.b, source.group, self.targets)
        node = None if reason.origin is None else self.r.program.place(reason.origin)
        self.unconnected[source.path] = Unconnected(reason.reason, reason.detail, node)
        if self.query.unconnected == "none" or not source.group:
            return None
        like = source.group[0]
        return self._or_zeros(None, like) if target is None else self.form.zeros(target, like)

    def _barred(self, source: Source) -> Cut | None:
        """Why a source has no derivative of anything."""
        if not source.group:
            return Cut("string_dtype", "strings have no gradient")
        cut = dtype_reason(source.group[0].dtype)
        if cut is not None or self.query.kind in ALONG:  # a tangent was given to it by name
            return cut
        watched = self.watched
        if watched is not None and not watched.isdisjoint([var.slot for var in source.group]):
            return None
        if source.leaf is not None and not source.leaf.trainable:
            return Cut("not_trainable", "the variable is not trainable")
        return None if watched is None else Cut("not_watched", "this was not watched")

    def _or_zeros(self, found: Var | None, like: Var) -> Var:
        return self.b.full(0, ArrayType(like.dtype, like.shape)) if found is None else found

    def _ones(self, variables: Sequence[Var]) -> list[Var]:
        return [self.b.full(1, ArrayType(x.dtype, x.shape)) for x in variables]

    def _tangents(self) -> list[Var]:
        """The request's tangents, for every variable that their sources' states have had."""
        dots = self._along([s.group[0] for s in self.sources if s.group])
        groups = [source.group for source in self.sources if source.group]
        if len({var.slot for var in self.every}) < len(self.every):
            at = Place(pointer=f"/{VECTORS[self.query.kind]}")
            raise InputError("a value is named twice", at=at, hint="name it once, with the sum")
        return [dot for dot, group in zip(dots, groups, strict=True) for _ in group]

    def _along(self, variables: Sequence[Var]) -> list[Var]:
        """The request's vectors, one like each of the variables; ones where it gives none."""
        vectors = self.vectors
        if vectors is None:
            return self._ones(variables)
        field = VECTORS[self.query.kind]
        if len(vectors) != len(variables):
            message = f"{len(variables)} arrays are needed in {field}, got {len(vectors)}"
            raise InputError(message, at=Place(pointer=f"/{field}"))
        return [self._vector(*pair, field) for pair in zip(variables, vectors, strict=True)]

    def _vector(self, like: Var, vector: Array | None, field: str) -> Var:
        kind = ArrayType(like.dtype, like.shape)
        if vector is None:
            return self.b.full(1, kind)
        var = self.b.input(ArrayType(vector.dtype, vector.shape))
        self.r.concrete.know(var, vector)  # a rule of the program's own may decide on it
        if not kind.differentiable:
            return var  # nothing flows along it, and the source's reason says so
        if vector.shape != kind.shape or not np.can_cast(vector.dtype, kind.dtype, "same_kind"):
            at = Place(pointer=f"/{field}")
            raise InputError(f"{field} needs {kind} here, got {var.type}", at=at)
        return self.b.cast(var, kind.dtype)

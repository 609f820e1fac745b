"""A program run once with every value kept, so that what is asked later replays only the rest."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from gradwire_engine.answer import Poll, Query
from gradwire_engine.compile import Compilation, Compiled, compile_query
from gradwire_engine.compile.derivatives import VECTORS
from gradwire_engine.compile.names import Watching
from gradwire_engine.compile.recorded import Recorded
from gradwire_engine.errors import InputError, Place
from gradwire_engine.program import Program
from gradwire_engine.queries.arguments import Arguments
from gradwire_engine.queries.batch import ask
from gradwire_engine.queries.call import Call, Compiler, Context
from gradwire_engine.queries.values import received

#: Bytes of an instruction and its value beside the value's elements.
_BYTES_PER_INSTRUCTION = 1000


class ValuesCompiler(Compiler):
    """Compiles what computes the values of a recording."""

    def __init__(self, watching: Watching) -> None:
        self.key = self._watching = watching

    def compile(self, asked: Compilation) -> Compiled:
        """Record the program."""
        recorded = Recorded(asked, self._watching)
        return Compiled(recorded.tiers, recorded=recorded)


class ResidualCompiler(Compiler):
    """Compiles what queries ask beyond the values of a recording.

    Those that need passes of a loop by themselves are compiled from the inputs on.
    """

    def __init__(self, recorded: Recorded, values: Mapping[int, Any], watching: Watching) -> None:
        self._recorded = recorded
        self._values = values
        self._watching = watching
        self.key = recorded.identity

    def compile(self, asked: Compilation) -> Compiled:
        """Go on with what was recorded."""
        if asked.unroll:
            return compile_query(asked, self._watching)
        return self._recorded.compile(asked, self._values)

    def operands(self, compiled: Compiled, inputs: Sequence[Any]) -> Sequence[Any]:
        """Vectors, and the values that are read."""
        if compiled.known is None:
            return inputs
        values = self._values
        read = [values[slot] if i is None else values[slot][i] for slot, i in compiled.known]
        return [*inputs[self._recorded.inputs :], *read]

    def whole(self, compiled: Compiled, asked: Compilation) -> Compiled:
        """The compiled query that also computes the values."""
        if compiled.known is None:
            return compiled
        return self._recorded.compile(asked, self._values, whole=True)


class Recording:
    """A program recorded, and ``run`` for given values, of which every one is kept."""

    #: The recording, and the values by their slots, once it was run.
    recorded: Recorded
    values: Mapping[int, Any]

    def __init__(
        self,
        context: Context,
        program: Program,
        variables: Mapping[str, Any],
        watching: Watching,
        query: Query,
    ) -> None:
        self.program = program
        self._watching = watching
        arguments = Arguments(received(variables), None)
        self._call = Call(context, program, query, arguments, ValuesCompiler(watching))

    @property
    def nbytes(self) -> int:
        """Approximate memory that it takes, once it was run."""
        recorded = self.recorded
        return recorded.nbytes + _BYTES_PER_INSTRUCTION * len(recorded.instructions)

    def compile(self, poll: Poll) -> None:
        """Record the program, unless it was for others that decide alike."""
        self._call.compile(poll)

    def run(self, poll: Poll) -> None:
        """Compute all values, by what was recorded of others that decide alike, if there is."""
        compiled, replayed = self._call.found(poll)
        assert compiled.recorded is not None
        self.recorded, self.values = compiled.recorded, compiled.recorded.values(replayed.outputs)

    def call(self, query: Query, vectors: Any = None) -> Call:
        """``query`` about what was run, neither compiled nor run yet; as ``Engine.call``.

        Of one point there may be many vectors. What is asked of an exact recording is exact.
        """
        if query.shard is not None:
            raise InputError("a tape was recorded without shards", at=Place(pointer="/shard"))
        field = VECTORS.get(query.kind)
        for name in query.batch or ():
            if re.split(r"[.\[]", name)[0] != field:
                what = "the point" if field is None else f"all but {field}"
                at = Place(id=name[:80], pointer="/batch")
                raise InputError(f"{what} was recorded without examples", at=at)
        ran = self._call
        query = query._replace(exact=ran.query.exact, promotion=ran.query.promotion)
        compiler = ResidualCompiler(self.recorded, self.values, self._watching)
        return ask(ran.context, self.program, ran.arguments.variables, query, vectors, compiler)

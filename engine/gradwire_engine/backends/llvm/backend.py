"""The backend that computes with NumPy, and by machine code what NumPy does element by element."""

from __future__ import annotations

from gradwire_engine.answer import Poll
from gradwire_engine.backends.base import Executable
from gradwire_engine.backends.llvm.compiler import Compile, Library
from gradwire_engine.backends.llvm.executable import NativeExecutable
from gradwire_engine.backends.llvm.rules import RULES
from gradwire_engine.backends.reference.backend import COSTS, EXACT_IDENTITIES
from gradwire_engine.backends.walk.backend import NumpyBackend
from gradwire_engine.optimize.target import rules
from gradwire_engine.tape import Tape


class NativeBackend(NumpyBackend):
    """NumPy, and machine code for what it would compute element by element.

    It is compiled in the background by ``compile_texts``, which is given ``whose`` it is; without
    one at once, and waited for.
    """

    name = "native"
    rules = rules(EXACT_IDENTITIES, RULES)
    #: Kernels compute elements by vectors, most of them where they are read.
    costs = COSTS._replace(element=0.05, compiles_loops=True)

    def __init__(self, compile_texts: Compile | None = None, whose: str = "") -> None:
        super().__init__()
        self._compile = compile_texts
        #: Functions that programs of a tenant share; a common one would reveal what others asked.
        self._library = Library(whose)

    def apart(self, whose: str = "") -> NativeBackend:
        """Another one, with functions of its own."""
        return NativeBackend(self._compile, whose)

    def compile(
        self, tape: Tape, poll: Poll, *, exact: bool = False, threads: int = 1
    ) -> Executable:
        """Make ready; exact ones are NumPy's alone."""
        if exact:
            return super().compile(tape, poll, exact=True, threads=threads)
        given = self._loops, threads, self._compile, self._library
        return NativeExecutable(tape, poll, *given)

"""A tape ready to replay whose kernels become machine code while it is replayed by NumPy."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gradwire_engine.answer import Poll
from gradwire_engine.backends.base import Executable, Listing
from gradwire_engine.backends.llvm.compilations import COMPILATIONS
from gradwire_engine.backends.llvm.compiler import Code, Compile, Library, Source, compile_here
from gradwire_engine.backends.llvm.groups import Kernels, calling, kernels_of
from gradwire_engine.backends.llvm.kernels import NativeKernel
from gradwire_engine.backends.llvm.rules import RULES
from gradwire_engine.backends.numpy.backend import NumpyBackend
from gradwire_engine.backends.numpy.executable import NumpyExecutable
from gradwire_engine.backends.numpy.loops import Functions
from gradwire_engine.backends.numpy.lower import lower
from gradwire_engine.backends.plan import plan
from gradwire_engine.backends.reference.backend import COSTS, EXACT_IDENTITIES
from gradwire_engine.backends.tiers import Replay
from gradwire_engine.kernels.apart import why_alone, why_apart
from gradwire_engine.ops import constants
from gradwire_engine.ops.constants import Item
from gradwire_engine.optimize.target import rules
from gradwire_engine.polling import polled, unhurried
from gradwire_engine.tape import Instruction, Tape

logger = logging.getLogger("gradwire")
#: Code in memory takes some 40 KiB a kernel, which is of some forty instructions.
_CODE_BYTES_PER_INSTRUCTION = 1000
#: Most instructions of a tape that is looked through for kernels, and most text that is compiled
#: for it: an instruction takes some 300 bytes.
_MOST_INSTRUCTIONS, _MOST_TEXT_BYTES = 20_000, 8 << 20


class NativeExecutable(NumpyExecutable):
    """Generates Python at the second replay, and has its kernels compiled in the background."""

    def __init__(
        self,
        tape: Tape,
        poll: Poll,
        loops: Functions,
        threads: int,
        compile_texts: Compile | None,
        library: Library,
    ) -> None:
        super().__init__(tape, poll, loops, threads=threads)
        self._library = library
        self._compile = compile_texts or compile_here
        self._waits = compile_texts is None
        self._asked = False
        #: The number of NumPy's replays while machine code was awaited, and the code that has come.
        self._replays = 0
        self._compiled: _Compiled | None = None
        self._is_settled = False

    @property
    def whose(self) -> str:
        """The tenant."""
        return self._library.whose

    @property
    def spent(self) -> float:
        """Seconds that NumPy has spent while machine code was awaited, as predicted."""
        return self._replays * self.seconds

    def generate(self, poll: Poll, *, careful: bool = False) -> Replay:
        """Straight-line Python, which machine code may replace."""
        if not careful:
            self._ask(poll)
            if self.generated is not None:
                return self.generated
        function = super().generate(poll, careful=careful)
        # machine code may have come meanwhile, in another thread
        return function if careful or self.generated is None else self.generated

    def listing(self, poll: Poll) -> Listing:
        """The Python, and that which calls machine code where it waits for this."""
        if self._waits:
            self._ask(poll)
        return super().listing(poll)._replace(apart=_apart(self.replayed.instructions, poll))

    def _ask(self, poll: Poll) -> None:
        """Have kernels compiled, once."""
        if self._asked:
            return
        self._asked = True
        if self._waits:
            self.compile_kernels(poll)
            self._take(poll)
        else:
            self.better = self._await
            COMPILATIONS.put(self)

    def _await(self, poll: Poll) -> None:
        """Take machine code if it has come, at the beginning of a replay."""
        self._replays += 1
        if self._is_settled:
            self._take(poll)
        else:
            self.better = self._await

    def _next(self, poll: Poll) -> Replay:
        self.walked = self.walked or self._waits
        return super()._next(poll)

    def compile_kernels(self, poll: Poll = unhurried) -> None:
        """Compile what machine code does sooner than NumPy, if there is any.

        Raises: what compiling does.
        """
        if len(self.tape.instructions) <= _MOST_INSTRUCTIONS:
            kernels = kernels_of(self.tape, poll)
            sources = [source for kernel in kernels for source in kernel.sources]
            if sources and sum([len(source.text) for source in sources]) <= _MOST_TEXT_BYTES:
                compiled = self._library.compiled(sources, self._compile)
                self._compiled = _Compiled(kernels, sources, compiled)
        self._is_settled = True

    def _take(self, poll: Poll) -> None:
        """Load what was compiled, if anything was, when little memory is in use."""
        compiled = self._compiled
        if compiled is None:
            return
        try:
            codes = iter(self._library.load(compiled.sources, compiled.codes))
        except Exception:
            logger.exception("machine code could not be loaded; NumPy goes on computing it")
            return
        for kernel in compiled.kernels:
            kernel.load([next(codes) for _ in kernel.sources], self._threads)
        tape = calling(self.tape, compiled.kernels, poll)
        replayed = tape, plan(tape, poll)
        generated = lower(*replayed, poll, self._loops, quick=True)
        self._replayed, self.generated = replayed, generated
        self._compiled = None

    @property
    def nbytes(self) -> int:
        """Approximate memory that the executable itself takes, with the code that it may get."""
        return super().nbytes + _CODE_BYTES_PER_INSTRUCTION * len(self.tape.instructions)


def _apart(made: Sequence[Instruction], poll: Poll) -> dict[tuple[int, int], str]:
    """Why kernels and what they read, or what reads them, are not in one."""
    found: dict[tuple[int, int], str] = {}
    for slot, (op, args, _, _) in enumerate(polled(made, poll)):
        if isinstance(op, Item):
            continue
        for arg in args:
            other = made[arg].op
            if isinstance(other, Item):
                other = made[made[arg].args[0]].op
            if isinstance(op, NativeKernel) and isinstance(other, NativeKernel):
                found[slot, arg] = why_apart(op.instructions, other.instructions)
            elif isinstance(op, NativeKernel) and not isinstance(other, constants.Source):
                found[slot, arg] = why_alone(made, arg)
            elif isinstance(other, NativeKernel):
                found[slot, arg] = why_alone(made, slot)
    return found


class _Compiled(NamedTuple):
    """Kernels whose texts have been compiled."""

    kernels: Kernels
    sources: Sequence[Source]
    codes: Mapping[bytes, Code | bytes]


class NativeBackend(NumpyBackend):
    """NumPy, and machine code for what it would compute element by element.

    It is compiled in the background by ``compile_texts``, which is given ``whose`` it is; without
    one at once, and waited for.
    """

    name = "native"
    rules = rules(EXACT_IDENTITIES, RULES)
    #: Kernels compute elements by vectors, most of them where they are read.
    costs = COSTS._replace(element=0.05)

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

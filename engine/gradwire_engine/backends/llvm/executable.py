"""A tape ready to replay whose kernels become machine code while it is replayed by NumPy."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping, Sequence
from queue import SimpleQueue
from typing import Any, NamedTuple
from weakref import ref

from gradwire_engine.answer import Poll
from gradwire_engine.backends.base import Executable, Listing, Replayed
from gradwire_engine.backends.llvm.compiler import Code, Compile, Library, Source, compile_here
from gradwire_engine.backends.llvm.kernels import NativeKernel, kernels_of
from gradwire_engine.backends.numpy.backend import NumpyBackend
from gradwire_engine.backends.numpy.executable import NumpyExecutable
from gradwire_engine.backends.numpy.loops import Functions
from gradwire_engine.backends.numpy.lower import lower
from gradwire_engine.backends.numpy.rules import RULES
from gradwire_engine.backends.plan import plan
from gradwire_engine.backends.reference.backend import EXACT_IDENTITIES
from gradwire_engine.backends.regroup import regrouped
from gradwire_engine.backends.tiers import Replay
from gradwire_engine.kernels.partition import parts
from gradwire_engine.kernels.scalar import FLOATS
from gradwire_engine.kernels.views import Views
from gradwire_engine.ops.arrays.indexing import ScatterAdd
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.pointwise.trigonometric import Cos, Hypot, Sin
from gradwire_engine.ops.reductions.reductions import Sum
from gradwire_engine.ops.sequences.cumulative import LinearRecurrence
from gradwire_engine.optimize.expressions import Expression, Settled, ValueTable
from gradwire_engine.optimize.target import rules
from gradwire_engine.polling import unhurried
from gradwire_engine.tape import Tape

logger = logging.getLogger("gradwire")
#: What kernels compute sooner than what rules for NumPy make of it.
_OWN = Sin, Cos, Hypot, Sum, LinearRecurrence
#: Code in memory takes some 40 KiB a kernel, which is of some forty instructions.
_CODE_BYTES_PER_INSTRUCTION = 1000
#: Most kernels of a program, and most instructions of a tape that is looked through for them.
_MOST_KERNELS, _MOST_INSTRUCTIONS = 200, 20_000


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
        self._compiled: _Compiled | None = None

    def replay(self, inputs: Sequence[Any], poll: Poll) -> Replayed:
        """Compute the outputs, by machine code from when it is there."""
        if self._compiled is not None:
            self._take(poll)
        return super().replay(inputs, poll)

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
        return super().listing(poll)

    def _ask(self, poll: Poll) -> None:
        """Have kernels compiled, once."""
        if self._asked:
            return
        self._asked = True
        if self._waits:
            self.compile_kernels(poll)
            self._take(poll)
        else:
            COMPILATIONS.put(self)

    def _next(self, poll: Poll) -> Replay:
        self.walked = self.walked or self._waits
        return super()._next(poll)

    def compile_kernels(self, poll: Poll = unhurried) -> None:
        """Compile what machine code does sooner than NumPy, if there is any."""
        if len(self.tape.instructions) > _MOST_INSTRUCTIONS:
            return
        views = Views(self.tape.instructions, poll)
        found = parts(self.tape, views, poll)
        if 0 < len(found) <= _MOST_KERNELS:
            kernels = kernels_of(self.tape, found, views, poll)
            sources = [source for kernel in kernels for source in kernel.sources]
            compiled = self._library.compiled(sources, self._compile)
            self._compiled = _Compiled(kernels, sources, compiled)

    def _take(self, poll: Poll) -> None:
        """Load what was compiled: at the beginning of a replay, when little memory is in use."""
        compiled, self._compiled = self._compiled, None
        if compiled is None:  # another thread was first
            return
        try:
            codes = iter(self._library.load(compiled.sources, compiled.codes))
        except Exception:
            logger.exception("machine code could not be loaded; NumPy goes on computing it")
            return
        try:
            for kernel in compiled.kernels:
                kernel.load([next(codes) for _ in kernel.sources])
            tape = regrouped(self.tape, compiled.kernels, poll)
            replayed = tape, plan(tape, poll)
            generated = lower(*replayed, poll, self._loops, quick=True)
        except Exception:  # the deadline of this replay is over: the next one takes it
            self._compiled = compiled
            raise
        self._replayed, self.generated = replayed, generated

    @property
    def nbytes(self) -> int:
        """Approximate memory that the executable itself takes, with the code that it may get."""
        return super().nbytes + _CODE_BYTES_PER_INSTRUCTION * len(self.tape.instructions)


class _Compiled(NamedTuple):
    """Kernels whose texts have been compiled."""

    kernels: Sequence[NativeKernel]
    sources: Sequence[Source]
    codes: Mapping[bytes, Code | bytes]


class Compilations:
    """Executables that wait for machine code, and the thread that compiles it."""

    def __init__(self) -> None:
        self._waiting: SimpleQueue[ref[NativeExecutable]] = SimpleQueue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def put(self, executable: NativeExecutable) -> None:
        """Compile one that is still there when its turn comes."""
        self._waiting.put(ref(executable))
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="compiler", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        while True:
            executable = self._waiting.get()()
            if executable is not None:
                try:
                    executable.compile_kernels()
                except Exception:
                    logger.exception("a kernel could not be compiled; NumPy goes on computing it")
            del executable


COMPILATIONS = Compilations()


def _planned(op: Op, args: Sequence[int], values: ValueTable) -> Expression | Settled | None:
    """Plans of rows that kernels do not add themselves."""
    x, *indices = args
    own = values.dtype(x).char in FLOATS and all(values.dtype(i).char == "l" for i in indices)
    return None if own else RULES[ScatterAdd](op, args, values)


class NativeBackend(NumpyBackend):
    """NumPy, and machine code for what it would compute element by element.

    It is compiled in the background by ``compile_texts``, without one at once, and waited for.
    """

    name = "native"
    rules = rules(
        EXACT_IDENTITIES,
        {**{op: rule for op, rule in RULES.items() if op not in _OWN}, ScatterAdd: _planned},
    )

    def __init__(self, compile_texts: Compile | None = None) -> None:
        super().__init__()
        self._compile = compile_texts
        #: Functions that programs share, but not those of others: who had one tells who asked what.
        self._library = Library()

    def apart(self) -> NativeBackend:
        """Another one, with functions of its own."""
        return NativeBackend(self._compile)

    def compile(
        self, tape: Tape, poll: Poll, *, exact: bool = False, threads: int = 1
    ) -> Executable:
        """Make ready; exact ones are NumPy's alone."""
        if exact:
            return super().compile(tape, poll, exact=True, threads=threads)
        given = self._loops, threads, self._compile, self._library
        return NativeExecutable(tape, poll, *given)

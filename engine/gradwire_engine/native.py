"""The entry to machine code: its availability, its backend, and its compiler.

Importing this module imports no compiler.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any

from gradwire_engine.backends import layout
from gradwire_engine.backends.base import Backend


def is_available() -> bool:
    """True if llvmlite is installed, and this Python one whose objects machine code can read."""
    return find_spec("llvmlite") is not None and layout.is_known()


def native_backend(
    compile_texts: Callable[[Sequence[Any], str], Sequence[bytes]] | None = None,
) -> Backend:
    """NumPy, and machine code in place of what it does element by element.

    Sources in LLVM's intermediate representation are compiled in the background, to an object file
    each, by ``compile_texts`` of them and the tenant whose they are; without it where the code is
    wanted, and waited for. It may postpone them.
    Raises: ``ModuleNotFoundError`` without llvmlite.
    """
    from gradwire_engine.backends.llvm.backend import NativeBackend

    return NativeBackend(compile_texts)


def postponed(seconds: float) -> Exception:
    """Raised by ``compile_texts`` to be asked again after so many seconds."""
    from gradwire_engine.backends.llvm.compiler import Postponed

    return Postponed(seconds)


def key_of(source: Any) -> bytes:
    """Equal for sources of which the same code is made: by this compiler, for this processor."""
    from gradwire_engine.backends.llvm import compiler

    return compiler.key_of(source)


def compile_texts(sources: Sequence[Any]) -> Sequence[bytes]:
    """Compile each source that a backend wants compiled to an object file, in this process."""
    from gradwire_engine.backends.llvm.compiler import compile_here

    return compile_here(sources)


def warm_up() -> None:
    """Load what all machine code needs: processes that are forked from this one then have it."""
    from gradwire_engine.backends.llvm import fastcall

    fastcall.warm_up()

"""LLVM: from text to machine code, and from machine code to functions in memory.

Compiling needs tens of megabytes and may, in theory, end the process: what compiles is an argument
of whoever wants code, so that it can be another process. Loading takes a fraction of a millisecond.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import NamedTuple, TypeAlias
from weakref import WeakValueDictionary

import llvmlite
import llvmlite.binding as llvm

from gradwire_engine.backends.llvm.functions.library import SYMBOLS, library


class Source(NamedTuple):
    """A text, and whether its code is worth the two to four times that optimising it takes."""

    text: str
    optimised: bool = True


#: From a tenant's texts to machine code, an object file each; may raise, or postpone.
Compile: TypeAlias = Callable[[Sequence[Source], str], Sequence[bytes]]


class Postponed(Exception):
    """The tenant has compiled as much as it may; it may again after so many seconds."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"nothing more is compiled for {seconds:.1f} s")
        self.seconds = seconds


@cache
def _target(without: str = "") -> tuple[llvm.Target, str, str]:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = llvm.get_host_cpu_features()
    if without:
        features.update({name: False for name in features if name.startswith(without)})
    return llvm.Target.from_default_triple(), llvm.get_host_cpu_name(), features.flatten()


def _machine(optimises: int = 2, without: str = "") -> llvm.TargetMachine:
    """One for the processor that is found; what runs code owns its own."""
    target, cpu, features = _target(without)
    return target.create_target_machine(cpu=cpu, features=features, opt=optimises, jit=True)


@cache
def _compiler() -> bytes:
    """All that machine code depends on beside its source."""
    _, cpu, features = _target()
    versions = llvmlite.__version__, *llvm.llvm_version_info
    found = versions, llvm.get_process_triple(), cpu, features, library()
    return hashlib.blake2b(repr(found).encode(), digest_size=32).digest()


def key_of(source: Source) -> bytes:
    """Equal for sources of which a compiler like this one makes the same code."""
    how = b"optimised" if source.optimised else b"plain"
    given = b"".join((_compiler(), how, source.text.encode()))
    return hashlib.blake2b(given, digest_size=32).digest()


def compile_here(
    sources: Sequence[Source], _whose: str = "", *, without: str = ""
) -> Sequence[bytes]:
    """Compile in this process, for a processor ``without`` features whose names begin so."""
    made: list[bytes] = []
    machines = _machine(0, without), _machine(2, without)
    passes = llvm.create_new_module_pass_manager()
    passes.add_sroa_pass()  # what is local is kept in registers
    builder = llvm.create_pass_builder(machines[1], llvm.create_pipeline_tuning_options())
    for text, optimised in sources:
        module = llvm.parse_assembly(text)
        module.verify()
        passes.run(module, builder)
        made.append(machines[optimised].emit_object(module))
        module.close()
    return made


class Code:
    """A function in memory, for as long as this is referred to."""

    def __init__(self, compiled: bytes, name: str) -> None:
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine())
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(compiled))
        self._engine.finalize_object()
        self.address: int = self._engine.get_function_address(name)

    def address_of(self, name: str) -> int:
        """The address of another function of the same object file."""
        found: int = self._engine.get_function_address(name)
        return found


@cache
def _functions() -> Code:
    """The elementary functions, which all other code calls by their names."""
    (compiled,) = compile_here([Source(library())])
    code = Code(compiled, SYMBOLS[0])
    for name in SYMBOLS:
        llvm.add_symbol(name, code.address_of(name))
    return code


class Library:
    """A tenant's functions that are in use, each once: programs of one structure share them."""

    def __init__(self, whose: str = "") -> None:
        self.whose = whose
        self._codes: WeakValueDictionary[bytes, Code] = WeakValueDictionary()
        self._lock = threading.Lock()

    def compiled(
        self, sources: Sequence[Source], compile_texts: Compile = compile_here
    ) -> dict[bytes, Code | bytes]:
        """The functions ``kernel`` of the texts by their keys: code of those not in use."""
        found: dict[bytes, Code | bytes] = {}
        missing: dict[bytes, Source] = {}
        for source in sources:
            key = key_of(source)
            code = self._codes.get(key)
            if code is None:
                missing[key] = source
            else:
                found[key] = code
        if missing:
            found.update(zip(missing, compile_texts([*missing.values()], self.whose), strict=True))
        return found

    def load(self, sources: Sequence[Source], compiled: Mapping[bytes, Code | bytes]) -> list[Code]:
        """The function of each text, of which all have been compiled."""
        with self._lock:
            _functions()
            return [self._loaded(key, compiled[key]) for key in map(key_of, sources)]

    def _loaded(self, key: bytes, compiled: Code | bytes) -> Code:
        if isinstance(compiled, Code):
            return compiled
        code = self._codes.get(key)
        if code is None:
            code = self._codes[key] = Code(compiled, "kernel")
        return code


def load_text(text: str) -> Code:
    """Compile here, and load."""
    source, own = Source(text), Library()
    return own.load([source], own.compiled([source]))[0]

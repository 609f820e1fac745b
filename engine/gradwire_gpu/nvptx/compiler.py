"""From text to PTX, the assembly that drivers of NVIDIA's GPUs take."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import cache
from typing import TypeAlias

import llvmlite
import llvmlite.binding as llvm

#: From a tenant's texts to PTX.
Compile: TypeAlias = Callable[[Sequence[str], str], Sequence[bytes]]

#: The processors that code is made for, by their compute capability: newer ones take it too.
_OLDEST = (8, 0)
#: The version of PTX, which drivers from CUDA 11.8 on read; and that for launches with more bytes
#: of arguments, up to 32,764, which drivers from CUDA 12.1 on do. Source: NVIDIA, PTX ISA, kernel
#: function parameters.
_USUAL, _WITH_MANY, _MOST_ARGUMENT_BYTES = "+ptx78", "+ptx81", 4352


@cache
def _machine(capability: tuple[int, int], version: str) -> llvm.TargetMachine:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple("nvptx64-nvidia-cuda")
    cpu = f"sm_{capability[0]}{capability[1]}"
    return target.create_target_machine(cpu=cpu, opt=3, features=version)


def ptx(text: str, capability: tuple[int, int] = _OLDEST) -> str:
    """The PTX of a module."""
    module = llvm.parse_assembly(text)
    arguments = max(len([*f.arguments]) for f in module.functions)
    many = 8 * arguments > _MOST_ARGUMENT_BYTES
    machine = _machine(capability, _WITH_MANY if many else _USUAL)
    module.data_layout = str(machine.target_data)
    module.verify()
    tuning = llvm.create_pipeline_tuning_options(speed_level=3)
    builder = llvm.create_pass_builder(machine, tuning)
    builder.getModulePassManager().run(module, builder)
    code: str = machine.emit_assembly(module)
    module.close()
    return code


@cache
def _compiler() -> bytes:
    """All that PTX depends on beside its text."""
    return repr((llvmlite.__version__, llvm.llvm_version_info, _OLDEST)).encode()


def key_of(text: str) -> bytes:
    """Equal for texts of which a compiler like this one makes the same PTX."""
    return hashlib.blake2b(b"\n".join((_compiler(), text.encode())), digest_size=32).digest()


def compile_here(texts: Sequence[str], _whose: str = "") -> Sequence[bytes]:
    """The PTX of each text, made in this process."""
    return [ptx(text).encode() for text in texts]

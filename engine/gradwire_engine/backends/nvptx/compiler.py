"""From text to PTX, the assembly that drivers of NVIDIA's GPUs take."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

import llvmlite
import llvmlite.binding as llvm

#: The processors that code is made for, by their compute capability: newer ones take it too.
_OLDEST = (8, 0)


@cache
def _machine(capability: tuple[int, int]) -> llvm.TargetMachine:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple("nvptx64-nvidia-cuda")
    cpu = f"sm_{capability[0]}{capability[1]}"
    return target.create_target_machine(cpu=cpu, opt=3, features="+ptx78")


def ptx(text: str, capability: tuple[int, int] = _OLDEST) -> str:
    """The PTX of a module."""
    machine = _machine(capability)
    module = llvm.parse_assembly(text)
    module.data_layout = str(machine.target_data)
    module.verify()
    tuning = llvm.create_pipeline_tuning_options(speed_level=3)
    builder = llvm.create_pass_builder(machine, tuning)
    builder.getModulePassManager().run(module, builder)
    code: str = machine.emit_assembly(module)
    module.close()
    return code


class Ptx:
    """Remembers PTX by its text in a ``folder``, if there is one: by digest, for all processes."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)

    def of(self, text: str) -> str:
        """The PTX of a text."""
        if self._folder is None:
            return ptx(text)
        how = repr((llvmlite.__version__, llvm.llvm_version_info, _OLDEST))
        digest = hashlib.blake2b(f"{how}\n{text}".encode(), digest_size=32).hexdigest()
        path = self._folder / f"{digest}.ptx"
        try:
            return path.read_text()
        except OSError:
            code = ptx(text)
        new = path.with_suffix(f".{id(code):x}")
        new.write_text(code)
        new.replace(path)
        return code

"""From LLVM's IR to PTX, and by NVIDIA's assembler, where it is installed, to machine code."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import llvmlite.binding as llvm
import pytest

TRIPLE = "nvptx64-nvidia-cuda"
#: The oldest GPUs that are supported, and those that most deployments have.
TARGETS = ("sm_80", "sm_90")
STRICT = ("--warning-as-error", "--warn-on-spills", "--verbose")


class Resources(NamedTuple):
    """What the machine code of a kernel takes of a GPU."""

    registers: int
    shared_bytes: int
    stack_bytes: int  # of local memory, by thread


@cache
def _target(name: str) -> llvm.TargetMachine:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm.Target.from_triple(TRIPLE).create_target_machine(cpu=name, opt=3)


def ptx_of(text: str, target: str) -> str:
    """The PTX that LLVM makes of a text for a target such as ``sm_80``."""
    module, machine = llvm.parse_assembly(text), _target(target)
    module.verify()
    module.triple = TRIPLE
    module.data_layout = str(machine.target_data)
    return str(machine.emit_assembly(module))


def optimised(text: str, target: str) -> str:
    """A text after LLVM's passes: what becomes PTX."""
    module, machine = llvm.parse_assembly(text), _target(target)
    module.triple = TRIPLE
    module.data_layout = str(machine.target_data)
    tuning = llvm.create_pipeline_tuning_options(speed_level=3)
    builder = llvm.create_pass_builder(machine, tuning)
    builder.getModulePassManager().run(module, builder)
    return str(module)


@cache
def assembler() -> Path | None:
    """NVIDIA's ``ptxas``: that of a wheel, or the installed one."""
    packages = importlib.util.find_spec("nvidia")
    folders = packages.submodule_search_locations if packages else None
    for folder in folders or ():
        for found in sorted(Path(folder).glob("*/bin/ptxas")):
            return found
    installed = shutil.which("ptxas")
    return Path(installed) if installed else None


#: Marks a test that assembles.
assembles = pytest.mark.skipif(
    assembler() is None, reason="ptxas, of the extra gpu-tests, is not installed"
)


def assembled(ptx: str, target: str, *options: str, spills: bool = False) -> dict[str, Resources]:
    """What the kernels of PTX take of a GPU, by name; ``AssertionError`` at any warning.

    A warning is, among others, that registers do not suffice and are spilled to local memory,
    unless ``spills`` are allowed: functions that are called may need some.
    """
    with TemporaryDirectory() as folder:
        source, made = Path(folder, "kernel.ptx"), Path(folder, "kernel.cubin")
        source.write_text(ptx)
        command = [
            assembler(),
            f"--gpu-name={target}",
            *[each for each in STRICT if not (spills and "spills" in each)],
            *options,
            "-o",
            made,
            source,
        ]
        run = subprocess.run(
            [str(part) for part in command], capture_output=True, text=True, check=False
        )
        said = run.stdout + run.stderr
        assert run.returncode == 0, said
        assert made.read_bytes()[:4] == b"\x7fELF"
    reports = re.split(r"Compiling entry function '(\w+)'", said)[1:]
    return {
        name: Resources(
            _number(r"Used (\d+) registers", report),
            _number(r"(\d+) bytes smem", report),
            _number(r"(\d+) bytes stack frame", report),
        )
        for name, report in zip(reports[::2], reports[1::2], strict=True)
    }


def inexact(ptx: str) -> list[str]:
    """Instructions that may give other numbers than IEEE 754's operations.

    Approximations, subnormal numbers taken for zero, and sums and products without ``.rn``, which
    the assembler may fuse.
    """
    free = r"(?:add|sub|mul|mad)\.(?:sat\.)?b?f(?:16|32|64)"
    return re.findall(rf"^\s*((?:{free}|\S*\.(?:approx|full|ftz)\b).*)$", ptx, re.MULTILINE)


def _number(pattern: str, report: str) -> int:
    found = re.search(pattern, report)
    return int(found[1]) if found else 0

"""The Python interpreter that has a peer's module, and the environment of its process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def interpreter(module: str) -> str:
    """The value of a variable such as ``GRADWIRE_BENCH_TORCH`` for ``torch``, or this Python."""
    return os.environ.get(f"GRADWIRE_BENCH_{module.partition('_')[0].upper()}") or sys.executable


def installed(module: str) -> bool:
    """True if the interpreter has a module."""
    find = f"import importlib.util, sys; sys.exit(not importlib.util.find_spec({module!r}))"
    return subprocess.run([interpreter(module), "-c", find], check=False).returncode == 0


def environment(**more: str) -> dict[str, str]:
    """The environment with one BLAS thread and the benchmarks' modules."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    paths = [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, **threads, "PYTHONPATH": os.pathsep.join(filter(None, paths)), **more}

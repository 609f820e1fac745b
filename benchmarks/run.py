"""Run the benchmarks and print one report: ``python benchmarks/run.py --quick --only replay``."""

from __future__ import annotations

import argparse
import importlib
import os
import platform
from importlib.metadata import PackageNotFoundError, version
from time import monotonic

NAMES = (
    "first_call",
    "replay",
    "loops",
    "matrices",
    "networks",
    "parameters",
    "sparsity",
    "solving",
    "solvers",
    "tapes",
    "wire",
    "tracing",
    "sdk",
    "page",
    "training",
    "batching",
    "sharing",
    "faults",
    "fairness",
    "jobs",
    "versions",
    "gradbench.timings",
    "growth",
    "writings",
    "derivatives",
    "peers",
)


def main() -> None:
    """Read the options, then run and report one benchmark after another."""
    parser = argparse.ArgumentParser(description="Run the benchmarks.")
    parser.add_argument("--quick", action="store_true", help="fewer rounds, rougher figures")
    parser.add_argument("--only", choices=NAMES, action="append", help="one of them; repeatable")
    options = parser.parse_args()
    print(_machine())
    for name in options.only or NAMES:
        start = monotonic()
        for table in importlib.import_module(name).report(quick=options.quick):
            print(f"\n\n{table}", flush=True)
        print(f"\n({name}: {monotonic() - start:.0f} s)")


def _machine() -> str:
    versions = ", ".join(f"{name} {_version(name)}" for name in ("numpy", "uvicorn", "orjson"))
    return f"Python {platform.python_version()}, {versions}; {os.cpu_count()} cores"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "?"


if __name__ == "__main__":
    main()

"""Gradwire beside JAX, PyTorch and CuPy on one GPU, in one run.

``PYTHONPATH=benchmarks:engine python -m gpu.run --output figures.json``
"""

from __future__ import annotations

import argparse
import json
import os
import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import monotonic
from typing import Any

from measure import shown, table

from gpu.cases import Figure, measured
from gpu.devices import DEVICES, Device

_PACKAGES = ("numpy", "cupy-cuda13x", "cupy-cuda12x", "llvmlite", "jax", "torch")
#: Read when JAX and CUDA's libraries are loaded: memory is shared, and nothing is rounded to TF32.
_ENVIRONMENT = {
    "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
    "NVIDIA_TF32_OVERRIDE": "0",
}


def main() -> None:
    """Read the options, measure row after row, and print the table last."""
    os.environ.update(_ENVIRONMENT)
    from gpu.rows import ROWS

    parser = argparse.ArgumentParser(description="Measure Gradwire beside others on one GPU.")
    parser.add_argument("--only", choices=[*ROWS], action="append", help="a row; repeatable")
    parser.add_argument("--quick", action="store_true", help="fewer rounds, rougher figures")
    parser.add_argument("--scale", type=float, default=1.0, help="times the sizes of all inputs")
    parser.add_argument("--device", choices=[*DEVICES], default="cuda", help="where to compute")
    parser.add_argument("--without-ours", action="store_true", help="measure only the others")
    parser.add_argument("--only-ours", action="store_true", help="measure none of the others")
    parser.add_argument("--output", type=Path, help="a file for the figures as JSON")
    options = parser.parse_args()
    device, start = DEVICES[options.device](), monotonic()
    figures: list[Figure] = []
    for name in options.only or ROWS:
        begun = monotonic()
        try:
            for case in ROWS[name](device, options.scale, options.quick):
                kept = {
                    tool: prepare
                    for tool, prepare in case.tools.items()
                    if not (options.without_ours and tool.startswith("gradwire"))
                    and (tool.startswith("gradwire") or not options.only_ours)
                }
                figures += measured(case._replace(tools=kept), device, quick=options.quick)
        except Exception as error:  # noqa: BLE001 - the table says so, and the others go on
            figures.append(Figure(name, failure=f"{type(error).__name__}: {error}"))
        print(f"{name}: {monotonic() - begun:.0f} s", flush=True)
        if options.output:
            options.output.write_text(json.dumps(_document(device, figures), indent=1))
    print(f"\n{_report(device, figures)}\n\n({monotonic() - start:.0f} s)")


def _document(device: Device, figures: Sequence[Figure]) -> dict[str, Any]:
    return {
        "device": device.name,
        "python": platform.python_version(),
        "packages": _versions(),
        "figures": [figure._asdict() for figure in figures],
    }


def _versions() -> dict[str, str]:
    found = {}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _report(device: Device, figures: Sequence[Figure]) -> str:
    """A line of each tool; the last column says how often Gradwire is done in the same time."""
    ours = {
        each.case: each.seconds
        for each in reversed(figures)
        if each.tool.startswith("gradwire") and each.seconds
    }
    lines: list[Sequence[str]] = []
    failures: list[str] = []
    last = None
    for each in figures:
        if each.case != last:
            lines.append([each.case, *[""] * 6])
            last = each.case
        if each.seconds is None:
            lines.append([f"  {each.tool}", "failed", *[""] * 5])
            failures.append(f"{each.case}: {each.tool}: {each.failure}")
            continue
        reference = ours.get(each.case)
        lines.append(
            [
                f"  {each.tool}",
                shown(1e3 * each.seconds),
                "" if each.bytes_per_second is None else shown(each.bytes_per_second / 1e9),
                "" if reference is None else shown(each.seconds / reference),
                "" if each.first_seconds is None else shown(1e3 * each.first_seconds),
                "" if each.error is None else f"{each.error:.0e}",
                str(each.rounds),
            ]
        )
    packages = ", ".join(f"{name} {number}" for name, number in _versions().items())
    title = f"{device.name}; Python {platform.python_version()}, {packages}"
    head = ["", "ms", "GB/s", "times gradwire", "first call, ms", "largest error", "rounds"]
    return "\n".join([table(title, head, lines), *(f"\nfailed: {each}" for each in failures)])


if __name__ == "__main__":
    main()

"""Runs tests that draw examples, with new seeds, for as long as it is told.

What fails is saved in ``tests/found``, as a file that every later run replays
(``tests/test_found.py``), and printed with the request that asks a service the same.

    python tools/explore.py --seconds 600 [tests/engine/test_replays.py ...]
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOUND = ROOT / "tests/found"


def main(arguments: Sequence[str] | None = None) -> int:
    """Explore; 1 if something was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, help="the first seed; by default a random one")
    parser.add_argument("tests", nargs="*", default=["tests"])
    options = parser.parse_args(arguments)
    known, ends = {*FOUND.glob("*.json")}, time.monotonic() + options.seconds
    seed = random.randrange(2**32) if options.seed is None else options.seed
    while time.monotonic() < ends:
        print(f"\n===== --explore={seed}", flush=True)
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        command += ["-n", str(os.cpu_count() or 1), "--dist=worksteal", f"--explore={seed}"]
        subprocess.run([*command, *options.tests], cwd=ROOT, check=False)
        seed = (seed + 1) % 2**32
    new = sorted({*FOUND.glob("*.json")} - known)
    for file in new:
        print(f"\n===== {file.relative_to(ROOT)}\n{file.read_text(encoding='utf-8')}")
    print(f"===== {len(new)} failures found", flush=True)
    return int(bool(new))


if __name__ == "__main__":
    sys.exit(main())

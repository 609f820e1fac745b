"""One tool on one workload in a process of its own: ``python -m peers.worker TOOL WORKLOAD``.

Each line of standard input is answered by a line of JSON. ``0`` asks for a first call, from the
text to the answer; another number for as many later ones; both are told in milliseconds of the
process's CPU. At the end of the input the answer is checked and the memory told, in megabytes.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from time import process_time

from memory import forget_peak, peak_mib, resident_mib

from peers.tools import TOOLS, check
from peers.workloads import WORKLOADS


def main(tool: str, what: str) -> None:
    """Answer until the input ends, on one core."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    prepare, problem = TOOLS[tool], WORKLOADS[what].problem()
    another = WORKLOADS["RK4, 1,163 scalar operations"].problem(small=True)
    run = prepare(another)
    run()  # what a process does once is no part of a first call
    before = resident_mib()
    forget_peak()
    for line in sys.stdin:
        times = int(line)
        gc.collect()
        start = process_time()
        if times == 0:
            run = prepare(problem)
            run()
        for _ in range(times):
            run()
        _tell(1e3 * (process_time() - start) / max(times, 1))
    peak = peak_mib() - before
    check(problem, run())
    _tell(peak)


def _tell(number: float) -> None:
    sys.stdout.write(json.dumps(number) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])

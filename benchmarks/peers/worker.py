"""One tool on one workload in a process of its own: ``python -m peers.worker TOOL WORKLOAD``.

It answers each line of standard input with a line of JSON. ``0`` runs a first call, from the text
to the result; another number runs this many later calls; the reply is the CPU time of the process
in milliseconds. At the end of the input it checks the result and prints its memory in megabytes.
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
    """Answer lines until the input ends, on one core."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    prepare, problem = TOOLS[tool], WORKLOADS[what].problem()
    another = WORKLOADS["RK4, 1,163 scalar operations"].problem(small=True)
    run = prepare(another)
    run()  # one-time initialisation is not part of a first call
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

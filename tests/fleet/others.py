"""The ordinary load of other tenants, from a process that the bodies of attacks do not delay.

python -m tests.fleet.others PORT RATE SECONDS
"""

from __future__ import annotations

import asyncio
import pickle
import sys
from pathlib import Path

from tests.fleet import asks, load

TENANTS = 8
#: Requests of each, where no time is given.
EACH = 15
_ROOT = Path(__file__).parents[2]


async def others(port: int, *, rate: float, seconds: float) -> load.Answers:
    """The answers to ``rate`` requests a second, or for no seconds to a number of requests."""
    command = [sys.executable, "-m", __name__, str(port), str(rate), str(seconds)]
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, stdout=pipe, cwd=_ROOT)
    told, _ = await process.communicate()
    answers = pickle.loads(told)
    assert isinstance(answers, load.Answers)
    return answers


async def _loaded(port: int, rate: float, seconds: float) -> load.Answers:
    mix = [
        asks.smooth(size, seed, tenant=f"tenant-{seed % TENANTS}")
        for size in (10, 100, 1000)
        for seed in range(16)
    ]
    if not seconds:
        return await load.closed(port, mix, clients=TENANTS, each=EACH)
    return await load.opened(port, mix, rate=rate, seconds=seconds)


if __name__ == "__main__":
    _, at, each_second, duration = sys.argv
    sys.stdout.buffer.write(
        pickle.dumps(asyncio.run(_loaded(int(at), float(each_second), float(duration))))
    )

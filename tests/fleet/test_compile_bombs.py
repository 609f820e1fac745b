"""One tenant's programs, thousands of them and some huge, leave the service and others as they are.

Each is asked three times, so that it is to become machine code.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
import pytest
from gradwire_engine import native

from tests.fleet import cgroups
from tests.fleet.judging import Tell
from tests.fleet.load import percentile
from tests.fleet.processes import until
from tests.fleet.sampler import FAILED, sampling
from tests.fleet.tenants import house

#: How long the attack lasts: it is one of those that ``make attacks`` makes.
SECONDS = 60.0
ATTACKERS = 8
MEMORY_BYTES = 2 << 30
#: Processor time a minute for each tenant.
ALLOWED_SECONDS = 1.0
#: Shares of the health checks' times that are reported.
SHARES = (0.5, 0.99)
TOO_LATE = "deadline_exceeded"
FUNCTIONS = (*"sin cos tanh exp sqrt log1p expm1 abs square sigmoid softplus arctan".split(),)

pytestmark = [
    pytest.mark.asked("FLEET_ATTACK_SECONDS"),
    pytest.mark.skipif(
        cgroups.why_not() is not None or not native.is_available(),
        reason=cgroups.why_not() or "there is no machine code here",
    ),
]


def small(rng: random.Random) -> str:
    """A program whose kernels are nobody else's."""
    lines = [
        f"y = {rng.choice(FUNCTIONS)}(y) {rng.choice('+-*')} {rng.choice(FUNCTIONS)}(x * x + 1)"
        for _ in range(rng.randrange(5, 40))
    ]
    return "\n".join(["y = x", *lines, "sum(y)"])


def huge(rng: random.Random) -> str:
    """A program of some 200,000 instructions."""
    lines = [f"y = {rng.choice(FUNCTIONS)}(y * x) + x" for _ in range(20_000)]
    return "\n".join(["y = x", *lines, "sum(y)"])


class Attackers:
    """The requests of several clients of a tenant, and the codes of their answers."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client
        self.programs = 0
        self.codes = Counter[str]()

    async def attack(self, number: int) -> None:
        """Send program after program."""
        rng = random.Random(number)
        while True:
            text = huge(rng) if number == 0 else small(rng)
            for _ in range(3):
                await self._ask(text, [rng.uniform(0.1, 1) for _ in range(40)])
            self.programs += 1

    async def _ask(self, program: str, x: list[float]) -> None:
        document: dict[str, Any] = {"program": program, "variables": {"x": x}, "timeout_ms": 3000}
        answer = await self._client.post("/v1/gradient", json=document)
        found = answer.json()
        self.codes[found.get("code", "answered")] += 1


async def test_compile_bombs(tmp_path: Path, tell: Tell) -> None:
    settings: dict[str, Any] = {
        "compile_seconds_per_minute": ALLOWED_SECONDS,
        "cache_bytes": 8 << 20,
        "processes": 2,
        "inline_microseconds": 0,
        "code_cache": str(code := tmp_path / "code"),
    }
    async with house(tmp_path, MEMORY_BYTES, **settings) as home, home.tenants() as tenants:
        attackers = Attackers(tenants.mine)
        async with sampling("/healthz", [home.server.port]) as samples:
            tasks = [asyncio.create_task(attackers.attack(number)) for number in range(ATTACKERS)]
            await asyncio.sleep(SECONDS / 2)
            assert not any(task.done() for task in tasks)
            # another tenant's program is compiled all the same
            document = {
                "program": "sum(tanh(x) * exp(-x * x))",
                "variables": {"x": [0.1 * k for k in range(40)]},
            }

            async def served() -> float:
                answer = await tenants.theirs.post("/v1/gradient", json=document)
                assert answer.status_code in (200, 503, 504), answer.text
                return sum(1 for each in code.iterdir() if each.is_dir())

            await until(served, least=2)
            await asyncio.sleep(SECONDS / 2)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        counts = {
            outcome: await tenants.counted("gradwire_kernels_total", outcome=outcome)
            for outcome in ("compiled", "failed", "cached", "postponed")
        }
        spent = await tenants.counted("gradwire_machine_code_seconds_total")
        group = home.server.cgroup
        assert group is not None
        times = {share: [percentile(share, each) for each in samples] for share in SHARES}
        tell("programs", f"{attackers.programs}, answers {dict(attackers.codes)}")
        tell("kernels", f"{counts}, {spent:.1f} s of compiling")
        tell("memory", f"{group.most_bytes >> 20} MiB")
        tell("health, and an idle process", times)
        assert not group.killed
        assert FAILED not in samples.served
        assert attackers.codes["answered"] > 0
        assert attackers.codes.keys() <= {"answered", "over_budget", "overloaded", TOO_LATE}

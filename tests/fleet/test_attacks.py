"""No request kills, stalls or fools the service, alone or as two replicas behind nginx.

Each replica has 2 GiB of memory for all its processes, as in a container, and no swap.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from itertools import islice
from typing import Any

import pytest

from tests import effort
from tests.fleet import cgroups
from tests.fleet.attacks.attack import FAMILIES, Attack
from tests.fleet.attacks.families import attacks, drawn
from tests.fleet.attacks.hoards import Hoard, hungry
from tests.fleet.fleets import NGINX, SHIPPED, fleet, replica
from tests.fleet.judging import Judge, Target, Tell
from tests.fleet.others import others

#: The duration of random attacks during other load; half an hour in ``make attacks``, which also
#: runs every attack.
SECONDS = float(os.environ.get("FLEET_ATTACK_SECONDS", "0"))
ALL = SECONDS > 0
MEMORY_BYTES = 2 << 30
#: The caches are much smaller than the memory that may remain in use.
CACHES: dict[str, Any] = dict.fromkeys(
    ("cache_bytes", "local_cache_bytes", "tape_values_bytes"), 8 << 20
)
#: Requests a second of other tenants, and the number of concurrent attackers.
RATE, ATTACKERS = 200.0, 4
#: Random attacks, one after the other and at once, where not all are asked for: of so many, one
#: half alone and the other behind nginx.
SOME = 12

pytestmark = pytest.mark.skipif(
    cgroups.why_not() is not None, reason=cgroups.why_not() or "control groups can be made"
)


@pytest.fixture(
    scope="module",
    params=[
        "alone",
        pytest.param(
            "behind nginx",
            marks=pytest.mark.skipif(NGINX is None, reason="nginx is not installed"),
        ),
    ],
)
async def judge(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Judge]:
    """A judge of the service, alone or behind nginx."""
    folder = tmp_path_factory.mktemp("attacked")
    async with AsyncExitStack() as stack:
        if request.param == "alone":
            one = await stack.enter_async_context(
                replica(folder, MEMORY_BYTES, **SHIPPED, **CACHES)
            )
            target = Target([one], one.port)
        else:
            store = f"sqlite:{folder}/kept.db"  # both share it
            of_two = fleet(folder, 2, memory_bytes=MEMORY_BYTES, store=store, **SHIPPED, **CACHES)
            two = await stack.enter_async_context(of_two)
            target = Target(two.replicas, two.port)
        judge = Judge(target, strict=ALL)
        stack.callback(judge.close)
        await judge.warm()
        yield judge


@pytest.mark.asked("FLEET_ATTACK_SECONDS")
@pytest.mark.parametrize("family", FAMILIES)
async def test_every_attack_is_harmless(judge: Judge, family: str, tell: Tell):
    async with judge.watching(tell):
        for attack in attacks(family):
            await judge.attack(attack)


def half(judge: Judge, seed: int | str) -> Iterator[Attack]:
    """Of some random attacks, those for this target."""
    return islice(drawn(seed), int(not judge.target.is_alone), SOME, 2)


@pytest.mark.skipif(ALL, reason="all are taken")
async def test_some_random_attacks_are_harmless(judge: Judge, tell: Tell):
    async with judge.watching(tell):
        for attack in half(judge, effort.seed):
            await judge.attack(attack)


async def test_the_maximum_number_of_concurrent_attacks_is_harmless(judge: Judge, tell: Tell):
    """As many as the service accepts, and more."""
    async with judge.watching(tell):
        at_once = f"{effort.seed} at once"
        many = islice(drawn(at_once), 60) if ALL else half(judge, at_once)
        await asyncio.gather(*(judge.strike(attack) for attack in many))


@pytest.mark.asked("FLEET_ATTACK_SECONDS")
async def test_using_up_all_memory_is_harmless(judge: Judge, tell: Tell):
    """Through stored tensors and concurrent computations, each within its limits."""
    hoards = [Hoard(number) for number in range(3)]
    async with judge.watching(tell):
        for hoard in hoards:
            await judge.strike(hoard.kept())
        for _ in range(2):
            await asyncio.gather(*(judge.strike(hungry(number)) for number in range(5)))
        for hoard in hoards:
            await judge.strike(hoard.forgotten())


async def test_other_tenants_are_answered_during_attacks(judge: Judge, tell: Tell):
    enough = asyncio.Event()

    async def attacker(number: int) -> None:
        for attack in drawn(f"{effort.seed} {number}"):
            if enough.is_set():
                return
            await judge.strike(attack)

    async with judge.watching(tell):
        attacking = [asyncio.create_task(attacker(number)) for number in range(ATTACKERS)]
        try:
            answers = await others(judge.target.port, rate=RATE, seconds=SECONDS / 2)
        finally:
            enough.set()
            await asyncio.gather(*attacking)
        tell("others' requests", answers)
    assert not answers.lost
    assert not answers.wrong

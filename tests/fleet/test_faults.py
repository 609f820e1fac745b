"""With any network fault, no response is wrong, none hangs, and every error has its code.

``test_redis_wire`` checks the same between the service and Redis.
"""

import asyncio
import random
import sys
from typing import NamedTuple

import pytest

from tests.fleet import asks, load
from tests.fleet.chaos import CALM, Chaos, Faults
from tests.fleet.fleets import NGINX, fleet
from tests.fleet.load import Answers
from tests.fleet.processes import until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

#: The time after which nginx asks another replica if one is silent: none is, on a busy machine.
READ_SECONDS = 4
#: Clients with faults give up after this time, if they are not answered: that is no failure.
PATIENCE_SECONDS = 3
#: Clients of each load.
CLIENTS = 8
#: The allowed error codes.
TYPED = {"overloaded", "deadline_exceeded", "draining"}


class Case(NamedTuple):
    """Faults of one replica's connections, and the allowed outcomes of requests."""

    up: Faults = CALM
    down: Faults = CALM
    refuses: bool = False
    failures: frozenset[str] = frozenset()
    #: Requests of each client.
    each: int = 12
    #: The minimum share of right responses.
    right: float = 0.5


CUT = frozenset({"cut"})
ONE_REPLICA = {
    "refuses": Case(refuses=True),
    "resets requests at once": Case(up=Faults(cut_after=0)),
    "resets requests on their way": Case(up=Faults(cut_after=200)),
    "swallows requests": Case(up=Faults(swallows=True), each=3),
    "swallows answers": Case(down=Faults(swallows=True), each=3),
    "resets answers at once": Case(down=Faults(cut_after=0)),
    "resets answers in their heads": Case(down=Faults(cut_after=100)),
    "ends answers in their heads": Case(down=Faults(end_after=100)),
    # Clients have the head by then, and notice that the response is incomplete.
    "resets answers in their bodies": Case(down=Faults(cut_after=20_000), failures=CUT),
    "ends answers in their bodies": Case(down=Faults(end_after=20_000), failures=CUT),
    "is late": Case(Faults(0.02, 0.02), Faults(0.02, 0.02)),
    "is slow": Case(down=Faults(bytes_per_second=50_000)),
    # Only clients can notice the garbage, because the response is no longer valid JSON.
    "adds garbage": Case(
        down=Faults(garbage_after=0),
        failures=frozenset(TYPED | {"malformed", "cut"}),
        each=3,
        right=0.25,
    ),
}


@pytest.fixture(scope="module")
async def servers(tmp_path_factory):
    if NGINX is None:
        pytest.skip("nginx is not installed")
    folder = tmp_path_factory.mktemp("faults")
    store = f"sqlite:{folder}/kept.db"
    async with fleet(
        folder, 3, chaos=True, read_seconds=READ_SECONDS, store=store, processes=0
    ) as servers:
        yield servers


@pytest.mark.parametrize("name", ONE_REPLICA)
async def test_two_healthy_replicas_compensate_for_a_faulty_one(servers, tell, name):
    case = ONE_REPLICA[name]
    async with servers.client() as client:
        mix = await asks.mixed(client)
    # Many programs, so that each replica gets some.
    mix += [asks.smooth(10, n, program=f"{asks.SMOOTH} + {n}") for n in range(20)]
    broken = servers.chaos[0]
    before = broken.connections
    try:
        if case.refuses:
            await broken.refuse()
        broken.up, broken.down = case.up, case.down
        await broken.drop()  # old connections may serve all requests before any is faulty
        answers = await load.closed(servers.port, mix, clients=CLIENTS, each=case.each)
    finally:
        await broken.drop()
        broken.calm()
        if case.refuses:
            await broken.accept()
    tell("answers", answers)
    assert answers.failures.keys() <= case.failures
    assert len(answers.good) > case.right * len(answers.all)
    assert case.refuses or broken.connections > before


async def test_with_faults_on_all_replicas_responses_are_right_or_errors(servers, tell):
    chosen = random.Random(7)
    async with servers.client() as client:
        mix = await asks.mixed(client)
    enough, answers = asyncio.Event(), Answers()
    loading = load.closed(servers.port, mix, clients=CLIENTS, until=enough, into=answers)
    loaded = asyncio.create_task(loading)
    cases = [case for case in ONE_REPLICA.values() if not case.refuses]
    for _ in range(6):
        for chaos in servers.chaos:
            case = chosen.choice([Case(), *cases])
            chaos.up, chaos.down = case.up, case.down
        made = len(answers.all) + CLIENTS / 2
        while len(answers.all) < made:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    for chaos in servers.chaos:
        chaos.calm()
        await chaos.drop()
    enough.set()
    await loaded
    tell("answers", answers)
    assert answers.wrong == []
    assert answers.failures.keys() <= CUT | TYPED | {"malformed"}
    again = await load.closed(servers.port, mix, clients=4, each=10)
    assert again.failures == {}


FAULTY_CLIENTS = {
    "late": (Faults(0.01, 0.02), Faults(0.01, 0.02)),
    "slow to send": (Faults(bytes_per_second=200_000), CALM),
    "slow to read": (CALM, Faults(bytes_per_second=200_000)),
    "gone in a request's head": (Faults(cut_after=50), CALM),
    "gone in a request's body": (Faults(cut_after=20_000), CALM),
    "gone in an answer": (CALM, Faults(cut_after=20_000)),
    "done sending in a request": (Faults(end_after=20_000), CALM),
    "done sending in a head": (Faults(end_after=50), CALM),
    "sending garbage": (Faults(garbage_after=0), CALM),
    "sending garbage in a request": (Faults(garbage_after=20_000), CALM),
}
#: Error codes for requests that arrived altered.
MANGLED = {"malformed_body", "malformed_request", "syntax_error", "invalid_request"}


@pytest.mark.parametrize("name", FAULTY_CLIENTS)
async def test_clients_with_faulty_connections_leave_nothing_in_use(servers, tell, name):
    alone = servers.replicas[0]
    mix = [asks.smooth(10, 1), asks.smooth(5_000, 2), asks.slow(20)]
    await load.closed(alone.port, mix, clients=2, each=10)
    before = alone.figures()
    async with Chaos(alone.port) as chaos:
        chaos.up, chaos.down = FAULTY_CLIENTS[name]
        enough = asyncio.Event()
        beside = asyncio.create_task(
            load.closed(alone.port, mix, clients=1, pause=0.05, until=enough)
        )
        answers = await load.closed(chaos.port, mix, clients=4, each=4, patience=PATIENCE_SECONDS)
        enough.set()
        others = await beside
    tell("answers", answers)
    tell("others", others)
    assert answers.wrong == []
    assert answers.failures.keys() <= {"cut", "timeout", *MANGLED}
    assert others.failures == {}
    await until(idle, alone, least=1)
    after = alone.figures()
    assert after.files <= before.files + 8
    assert after.resident_bytes < before.resident_bytes + (64 << 20)


async def idle(server) -> float:
    """1 when no request is in progress."""
    return float(not await server.metric("gradwire_in_flight"))

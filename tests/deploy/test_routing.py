"""Routing: requests go to the replica that has the program compiled, unless it is too busy."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from itertools import count

import httpx
import msgpack
import pytest

from tests.deploy import matching
from tests.deploy.replicas import Replica, Start, asking
from tests.fleet.nginx import CONFIGURATION, NGINX
from tests.processes import until

#: Requests that a replica has under way before it is passed over, as shipped.
MOST_AT_HOME = 8
#: The same of a replica with a GPU.
MOST_ON_GPU = 32

pytestmark = pytest.mark.skipif(NGINX is None, reason="nginx is not installed")


def home(client: httpx.Client, body: bytes, path: str = "/v1/gradient", **headers: str) -> str:
    """The replica that answers this request each time."""
    replies = [client.post(path, content=body, headers=headers) for _ in range(4)]
    assert {reply.status_code for reply in replies} == {200}
    (replica,) = {reply.headers["Replica"] for reply in replies}
    return replica


def reach_all(homes: Iterable[str]) -> bool:
    """Take homes until all three replicas were one: how many that takes, their ports decide."""
    reached: set[str] = set()
    for home in homes:
        reached.add(home)
        if len(reached) == 3:
            return True
    return False


GRAPH = {"format": "gradwire/1", "nodes": [{"id": "y", "op": "tanh", "args": ["x"]}]}


@pytest.mark.parametrize(
    "form",
    [
        lambda number: asking(f'y = x * {number}\nastype(y, "float32")'),
        lambda number: asking({**GRAPH, "outputs": f"y{number}"}),
        lambda number: asking({"ref": f"sha256:{number:064x}"}),
        lambda number: b'{"variables": {"x": 1}, "program" : "x + %d"}' % number,
        lambda number: msgpack.packb({"program": f"x + {number}", "variables": {"x": b"\xa9"}}),
        lambda number: msgpack.packb({"variables": {"x": b"\xa9"}, "program": f"x + {number}"}),
    ],
    ids=["text", "graph", "reference", "program last", "MessagePack", "MessagePack, last"],
)
def test_program_has_one_home_and_programs_have_several(proxy: Start, form: Callable[[int], bytes]):
    client = proxy(Replica("answers"), Replica("answers"), Replica("answers"))
    assert reach_all(home(client, form(number)) for number in count())


def test_values_do_not_move_a_program(proxy: Start):
    client = proxy(Replica("answers"), Replica("answers"), Replica("answers"))
    bodies = [
        b'{"program": "x * 3", "variables": {"x": %d}, "target": "x%d"}' % (number, number)
        for number in range(12)
    ]
    assert len({home(client, body) for body in bodies}) == 1


def test_client_may_name_its_program_where_the_body_is_not_looked_into(proxy: Start):
    client = proxy(Replica("answers"), Replica("answers"), Replica("answers"))
    large = asking("x") + b" " * 400_000
    for name in ("a", "b"):
        home(client, large, **{"Gradwire-Program": name})
    assert reach_all(client.post("/v1/gradient", content=large).headers["Replica"] for _ in count())


@pytest.mark.thorough
def test_tensors_and_results_follow_the_program_that_a_client_names(proxy: Start):
    client = proxy(Replica("answers"), Replica("answers"), Replica("answers"))

    def home_of(name: str) -> str:
        headers = {"Gradwire-Program": name}
        found = home(client, asking("x"), **headers)
        for path in ("/v1/tensors", "/v1/tensors/result:abc", "/v1/tensors/sha256:abc"):
            reply = client.request("PUT", path, content=b"[1.0]", headers=headers)
            assert reply.headers["Replica"] == found
        return found

    assert reach_all(home_of(str(number)) for number in count())


def test_tape_has_one_home(proxy: Start):
    client = proxy(Replica("answers"), Replica("answers"), Replica("answers"))
    assert reach_all(home(client, b"{}", f"/v1/tapes/{number}/gradient") for number in count())


@contextmanager
def under_way(client: httpx.Client, body: bytes, requests: int) -> Iterator[None]:
    """So many requests that are held, until the end."""
    with ThreadPoolExecutor(requests) as pool:
        for _ in range(requests):
            pool.submit(client.post, "/v1/gradient", content=body)
        yield


def test_busy_home_is_passed_over_and_when_all_are_busy_any_is_asked(proxy: Start):
    replicas = [Replica("holds"), Replica("holds"), Replica("holds")]
    client = proxy(*replicas)

    def counts() -> list[int]:
        return sorted(len(replica.asked) for replica in replicas)

    with ExitStack() as stack:
        for replica in replicas:
            stack.callback(replica.released.set)
        stack.enter_context(under_way(client, asking("x"), MOST_AT_HOME))
        until(lambda: counts() == [0, 0, MOST_AT_HOME])
        stack.enter_context(under_way(client, asking("x"), MOST_AT_HOME))
        until(lambda: counts() == [0, MOST_AT_HOME, MOST_AT_HOME])
        stack.enter_context(under_way(client, asking("x"), MOST_AT_HOME))
        until(lambda: counts() == [MOST_AT_HOME] * 3)
        stack.enter_context(under_way(client, asking("x"), 6))
        until(lambda: sum(counts()) == 3 * MOST_AT_HOME + 6)
        assert max(counts()) <= MOST_AT_HOME + 2
        for replica in replicas:
            replica.released.set()


def test_busy_and_gone_together_still_answer(proxy: Start):
    """The free ones are gone and the sound one is busy: it is asked all the same."""
    busy = Replica("holds")
    client = proxy(busy, Replica("is gone"), Replica("is gone"))
    with ThreadPoolExecutor(MOST_AT_HOME + 1) as pool:
        asked = [
            pool.submit(client.post, "/v1/gradient", content=asking(f"x + {number}"))
            for number in range(MOST_AT_HOME + 1)
        ]
        try:
            until(lambda: len(busy.asked) == MOST_AT_HOME + 1)
        finally:
            busy.released.set()
        assert {reply.result().status_code for reply in asked} == {200}


HOSTILE = [
    b'{"program": "' + b"\\\\" * 125_000,
    b'"program":{' * 22_000,
    b'"program":"\\' * 20_000,
    b'"program"' + b" " * 250_000 + b":",  # without a colon nothing is looked for
    (b'"program"' + b" " * 1000) * 240 + b":",
    b"\xa7program\xa9" * 27_000,
]


@pytest.mark.skipif(not matching.AVAILABLE, reason="there is no PCRE2")
def test_no_body_makes_looking_for_its_program_slow(proxy: Start):
    looking = matching.patterns(CONFIGURATION / "routing.conf")
    assert len(looking) == 2
    for body in HOSTILE:
        for pattern in looking:
            assert matching.matches_within(pattern, body, len(body) // 2), body[:20]
    careless = looking[0].replace(b"++", b"+").replace(b"{0,200}+", b"*")
    assert not matching.matches_within(careless, HOSTILE[0], len(HOSTILE[0]) // 2)
    client = proxy(Replica("answers"))
    assert {client.post("/v1/gradient", content=body).status_code for body in HOSTILE} == {200}


ON_GPU = {"Gradwire-Placement": "gpu"}


@pytest.mark.thorough
def test_programs_placed_on_gpus_have_homes_among_those_replicas(proxy: Start):
    others = [Replica("answers"), Replica("answers")]
    gpus = [Replica("answers"), Replica("answers")]
    client = proxy(*others, with_gpus=gpus)
    placed = {home(client, asking(f"x + {n}"), **ON_GPU) for n in range(24)}
    assert placed == {str(replica.port) for replica in gpus}
    left = {home(client, asking(f"x + {n}")) for n in range(24)}
    left |= {home(client, asking(f"x + {n}"), **{"Gradwire-Placement": "cpu"}) for n in range(24)}
    assert left == {str(replica.port) for replica in others}


def test_tapes_and_tensors_follow_the_placement(proxy: Start):
    gpu = Replica("answers")
    client = proxy(Replica("answers"), with_gpus=[gpu])
    for path in ("/v1/tapes/t/gradient", "/v1/tensors/result:abc", "/v1/programs"):
        reply = client.post(path, content=b"{}", headers=ON_GPU)
        assert reply.headers["Replica"] == str(gpu.port)


@pytest.mark.parametrize("gpus", [[], [Replica("is gone")]], ids=["none", "gone"])
def test_without_a_gpu_any_replica_computes(proxy: Start, gpus: list[Replica]):
    replicas = [Replica("answers"), Replica("answers")]
    client = proxy(*replicas, with_gpus=gpus)
    for number in range(8):
        reply = client.post("/v1/gradient", content=asking(f"x + {number}"), headers=ON_GPU)
        assert reply.status_code == 200
        assert reply.headers["Replica"] in {str(replica.port) for replica in replicas}


def test_a_request_that_a_gpus_replica_lost_is_not_computed_twice(proxy: Start):
    lost, other = Replica("hangs up"), Replica("answers")
    client = proxy(other, with_gpus=[lost])
    reply = client.post("/v1/gradient", content=asking("x"), headers=ON_GPU)
    assert (reply.status_code, reply.json()["code"]) == (503, "overloaded")
    assert (len(lost.asked), other.asked) == (1, [])


def test_gpus_take_requests_up_to_their_limit_and_others_the_rest(proxy: Start):
    gpu, other = Replica("holds"), Replica("answers")
    client = proxy(other, with_gpus=[gpu])
    with ThreadPoolExecutor(MOST_ON_GPU) as pool:
        for _ in range(MOST_ON_GPU):
            pool.submit(client.post, "/v1/gradient", content=asking("x"), headers=ON_GPU)
        try:
            until(lambda: len(gpu.asked) == MOST_ON_GPU)
            reply = client.post("/v1/gradient", content=asking("x"), headers=ON_GPU)
            assert reply.headers["Replica"] == str(other.port)
        finally:
            gpu.released.set()

"""Repeated arrays and programs are sent once, then by reference, with the same results."""

import hashlib
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import gradwire
import httpx
import ml_dtypes  # noqa: F401 - which names bfloat16
import msgpack
import numpy as np
import pytest
from gradwire import codec
from gradwire.call import Call, Reply, drive
from gradwire.local import LocalTransport
from gradwire.residents import AFTER_A_CHANGE, MOST_ENTRIES, Residents
from hypothesis import given
from hypothesis import strategies as st

from tests.clock import Clock
from tests.effort import examples

T = TypeVar("T")

ROWS = np.arange(20_000.0).reshape(100, 200)
LONG = "y = x\n" + "\n".join(f"y = y + {i} - {i}" for i in range(400))


class Observed:
    """A client of an app, and the requests it sent; ``app`` may be replaced by a new one."""

    def __init__(self, url: str, **options: Any) -> None:
        self.sent: list[tuple[str, int]] = []
        self.http = httpx.Client(base_url=url, event_hooks={"request": [self._sent]})
        self.client = gradwire.Client(http_client=self.http, **options)

    def _sent(self, request: httpx.Request) -> None:
        path = request.url.path.partition("sha256:")[0]
        self.sent.append((f"{request.method} {path}", len(request.content)))

    def paths(self) -> list[str]:
        """The methods and paths requested since the last call."""
        paths = [path for path, _ in self.sent]
        self.sent.clear()
        return paths

    def nbytes(self) -> list[int]:
        """The lengths of the bodies sent since the last call."""
        lengths = [length for _, length in self.sent]
        self.sent.clear()
        return lengths


@pytest.fixture
def observed(service_url) -> Iterator[Observed]:
    # Its own key, though the service checks none, so that its records are separate.
    one = Observed(service_url, api_key=f"{threading.get_ident()} {id(object())}")
    with one.http:
        yield one


def total(client: gradwire.Client, rows: Any = ROWS, scale: float = 1.0) -> float:
    return float(client.evaluate("sum(rows) * scale", {"rows": rows, "scale": scale}).outputs)


def test_a_repeated_array_is_stored_once_and_then_sent_by_reference(observed):
    for scale in range(6):
        assert total(observed.client, ROWS.copy(), scale) == scale * ROWS.sum()
    sent = list(observed.sent)
    evaluating = [length for path, length in sent if path == "POST /v1/evaluate"]
    assert [path for path, _ in sent].count("PUT /v1/tensors/") == 1
    assert sent[2][0] == "PUT /v1/tensors/"
    assert min(evaluating[:2]) > ROWS.nbytes
    assert max(evaluating[2:]) < 500


def test_the_reference_is_the_digest_that_the_service_computes(observed):
    for _ in range(3):
        total(observed.client)
    line = b"float64 100,200\n"
    ref = f"sha256:{hashlib.sha256(line + ROWS.tobytes()).hexdigest()}"
    answer = observed.client.evaluate("sum(x)", {"x": {"ref": ref}})
    assert answer.outputs == ROWS.sum()


@pytest.mark.parametrize(
    "array",
    [
        np.arange(20_000.0).reshape(200, 100).T,
        np.arange(9_000, dtype=np.complex128),
        np.arange(70_000, dtype=np.int8),
        np.arange(20_000, dtype=">f4"),
        np.arange(70_000) % 2 == 0,
        np.arange(40_000, dtype=np.float16),
        np.arange(40_000).astype("bfloat16"),
    ],
    ids=lambda array: f"{array.dtype}{array.shape}",
)
def test_arrays_of_all_dtypes_and_orders_are_sent_by_reference(observed, array):
    for _ in range(4):
        answer = observed.client.evaluate("x[::2], sum(x)", {"x": array})
        np.testing.assert_array_equal(answer.outputs[0], array[::2])
    assert observed.nbytes()[-1] < 500


def test_composite_arrays_and_leaves_with_options_are_sent_by_reference(observed):
    values = np.arange(9_000.0)
    rows = gradwire.RaggedArray(values, np.array([0, 4_000, 9_000]))
    places = np.stack([np.arange(9_000), np.arange(9_000)], axis=1)
    sparse = gradwire.SparseArray(places, values, (9_000, 9_000))
    frozen = {"value": values, "trainable": False}
    variables = {"rows": rows, "sparse": sparse, "x": frozen, "w": 2.0}
    program = "w * sum(sum(rows, axis=1)) + sum(sparse @ x) + sum(x)"
    found = [observed.client.gradient(program, variables) for _ in range(4)]
    for answer in found:
        assert answer.value == found[0].value
        assert answer.gradients["x"] is None
        assert answer.gradients["w"] == values.sum()
        np.testing.assert_array_equal(answer.gradients["rows"].values, 2.0)
        np.testing.assert_array_equal(answer.gradients["sparse"].values, values)
    assert observed.nbytes()[-1] < 1_000


def test_cotangents_and_tangents_are_sent_by_reference(observed):
    x, seed = np.linspace(0.0, 1.0, 20_000), np.linspace(1.0, 2.0, 20_000)
    for _ in range(4):
        answer = observed.client.gradient("x**2", {"x": x}, output_gradients=seed)
        np.testing.assert_allclose(answer.gradients["x"], 2 * x * seed)
        along = observed.client.jvp("x**2", {"x": x}, {"x": seed})
        np.testing.assert_allclose(along.jvp, 2 * x * seed)
    assert max(observed.nbytes()[-2:]) < 500


@pytest.mark.parametrize("part", [np.s_[:, :150], np.s_[::2], np.s_[:, ::-1]], ids=repr)
def test_a_view_made_anew_is_sent_by_reference(observed, part):
    for _ in range(4):
        assert total(observed.client, ROWS[part]) == ROWS[part].sum()
    assert observed.nbytes()[-1] < 500


def test_changes_in_place_are_noticed(observed):
    rows = ROWS.copy()
    for step in range(12):
        rows[37, 41] = step
        for _ in range(step % 4):
            assert total(observed.client, rows) == rows.sum()


def test_arrays_that_change_in_each_call_are_never_stored(observed):
    for step in range(10):
        assert total(observed.client, ROWS + step) == (ROWS + step).sum()
    assert set(observed.paths()) == {"POST /v1/evaluate"}


@pytest.mark.thorough
def test_arrays_that_change_in_place_in_each_call_are_seldom_stored(observed):
    rows = ROWS.copy()
    for step in range(AFTER_A_CHANGE):
        rows[37, 41] = step  # between the sampled elements
        assert total(observed.client, rows) == rows.sum()
    assert observed.paths().count("PUT /v1/tensors/") == 1
    for _ in range(AFTER_A_CHANGE):
        assert total(observed.client, rows) == rows.sum()
    assert observed.nbytes()[-1] < 500


def test_small_arrays_are_never_stored(observed):
    for _ in range(10):
        observed.client.evaluate("sum(x)", {"x": np.ones(1000)})
    assert set(observed.paths()) == {"POST /v1/evaluate"}


def test_references_can_be_disabled(service_url):
    one = Observed(service_url, references=False)
    with one.http:
        for _ in range(5):
            total(one.client)
            one.client.evaluate(LONG, {"x": 1.0})
    assert set(one.paths()) == {"POST /v1/evaluate"}


def test_a_repeated_long_program_is_registered_and_then_sent_by_reference(observed):
    for x in range(5):
        assert observed.client.evaluate(LONG, {"x": x}).outputs == x
    lengths = [length for path, length in observed.sent if path == "POST /v1/evaluate"]
    assert observed.paths().count("POST /v1/programs") == 1
    assert min(lengths[:2]) > len(LONG)
    assert max(lengths[2:]) < 200


def test_errors_show_the_line_of_a_program_sent_by_reference(observed):
    program, a = f"z = a @ b\n{LONG}", np.ones((2, 2))
    for _ in range(4):
        observed.client.evaluate(program, {"a": a, "b": a, "x": 1.0})
    with pytest.raises(gradwire.ShapeMismatch, match=r"line 1: z = a @ b"):
        observed.client.evaluate(program, {"a": a, "b": np.ones(3), "x": 1.0})
    assert observed.nbytes()[-1] < len(program)


def delete(client: gradwire.Client, path: str) -> None:
    client.send(Call("DELETE", path, None, lambda _: None))


@pytest.mark.thorough
def test_records_lost_by_the_service_are_stored_again(observed):
    client, x = observed.client, {"rows": ROWS, "x": 1.0}
    for _ in range(4):
        answer = client.evaluate(LONG.replace("y = x\n", "y = sum(rows) * x\n"), x)
    digest = hashlib.sha256(b"float64 100,200\n" + ROWS.tobytes()).hexdigest()
    for lost in ([f"tensors/sha256:{digest}"], [f"programs/{answer.program}"]):
        for path in lost:
            delete(client, f"/v1/{path}")
        observed.paths()
        answer = client.evaluate(LONG.replace("y = x\n", "y = sum(rows) * x\n"), x)
        assert answer.outputs == ROWS.sum()
        again = "PUT /v1/tensors/" if "tensors" in lost[0] else "POST /v1/programs"
        assert observed.paths() == ["POST /v1/evaluate", again, "POST /v1/evaluate"]


def test_records_that_a_tape_refers_to_are_stored_again_if_lost():
    x = np.linspace(0.0, 1.0, 10_000)
    with gradwire.Client.local(tape_values_bytes=0) as client:  # requests run it again
        for _ in range(4):
            tape = client.tape("sum(w * x**2)", {"x": x, "w": 2.0}, persistent=True)
        assert len(tape.raw.request.content) < 500
        line = b"float64 10000\n"
        delete(client, f"/v1/tensors/sha256:{hashlib.sha256(line + x.tobytes()).hexdigest()}")
        assert tape.gradient(sources="w").gradients == pytest.approx((x**2).sum())


class Replicas(httpx.BaseTransport):
    """Services without a shared store, and a proxy that routes by program."""

    def __init__(self, *, homes: bool) -> None:
        self._replicas = [LocalTransport(), LocalTransport()]
        self._homes = homes
        self._requests = 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self._requests += 1
        home = request.headers.get("Gradwire-Program") if self._homes else None
        place = self._requests if home is None else int(home, 16)
        return self._replicas[place % 2].handle_request(request)

    def close(self) -> None:
        for replica in self._replicas:
            replica.close()


@pytest.mark.parametrize("homes", [False, True], ids=["by chance", "by program"])
def test_replicas_without_a_shared_store_give_right_results(homes):
    transport = Replicas(homes=homes)
    with httpx.Client(transport=transport, base_url="http://replicas") as http:
        client = gradwire.Client(http_client=http)
        lengths = []
        for scale in range(12):
            for program in ("sum(rows) * scale", "scale * sum(rows)"):
                answer = client.evaluate(program, {"rows": ROWS, "scale": scale})
                assert answer.outputs == ROWS.sum() * scale
                lengths.append(len(answer.raw.request.content))
    assert (max(lengths[-10:]) < 500) == homes


def test_the_callers_own_references_are_not_replaced(observed):
    unknown = {"ref": f"sha256:{0:064x}"}
    variables = {"rows": ROWS, "other": unknown}
    for _ in range(4):
        with pytest.raises(gradwire.UnknownRef) as caught:
            observed.client.evaluate("sum(rows) + other", variables)
        assert unknown["ref"] in caught.value.missing


class CachedRepository:
    """The part of a service that stores arrays and programs and parses requests.

    Tests make it forget, refuse and fail.
    """

    def __init__(self) -> None:
        self.held: dict[str, Any] = {}
        self.refuses = self.fails = False
        self.sent: list[int] = []
        self.stored = 0

    def send(self, call: Call[T], /) -> T:
        """The result of a call."""
        response = httpx.Response(200)
        if call.method == "PUT":
            return call.read(self._store(call, call.document.copy(), response))
        if call.path == "/v1/programs":
            return call.read(self._store(call, call.document["program"], response))
        content = call.content or msgpack.packb(call.document, default=self._written)
        self.sent.append(len(content))
        document = msgpack.unpackb(content)
        program = document["program"]
        named = [part for part in (program, document["x"]) if isinstance(part, dict)]
        refs = [part["ref"] for part in named if "ref" in part]
        missing = [ref for ref in refs if ref not in self.held]
        if refs and self.fails:
            raise gradwire.StoreUnavailable("no", status=503, code="store_unavailable")
        if missing:
            problem = {"missing": missing}
            raise gradwire.UnknownRef("gone", status=404, code="unknown_ref", problem=problem)
        if isinstance(program, dict):
            program = self.held[program["ref"]]
        x = document["x"]
        array = self.held[x["ref"]] if "ref" in x else np.frombuffer(x["data"], x["dtype"])
        id = f"sha256:{hashlib.sha256(program.encode()).hexdigest()}"
        answer = {"program": id, "outputs": (program, array)}
        return call.read(Reply(answer, response))

    def _store(self, call: Call[Any], value: Any, response: httpx.Response) -> Reply:
        self.stored += 1
        if self.refuses:
            raise gradwire.OverBudget("full", status=413, code="over_budget")
        ref = call.document["ref"] if call.method == "POST" else call.path.rpartition("/")[2]
        self.held[ref] = value
        return Reply({}, response)

    def _written(self, array: Any) -> Any:
        return {"dtype": array.dtype.name, "shape": list(array.shape), "data": array.tobytes()}


def ask(memory: Residents, shelf: CachedRepository, x: Any, program: str = "x") -> None:
    """Send a request, and check that the service got the intended program and array."""
    call = Call("POST", "/v1/evaluate", {"program": program, "x": x}, outputs)
    read, array = drive(memory.conversation(call), shelf.send)
    assert read == program
    np.testing.assert_array_equal(array, x)


def outputs(reply: Reply) -> Any:
    return reply.document["outputs"]


EVENTS = st.sampled_from(["ask", "ask", "ask", "ask", "change", "forget", "refuse", "fail", "heal"])


@examples(60)
@given(st.lists(st.tuples(EVENTS, st.integers(0, 2), st.integers(0, 9999)), max_size=60))
def test_whatever_happens_the_service_gets_the_intended_values(events):
    memory, shelf = Residents(200_000), CachedRepository()
    arrays = [np.full(10_000, float(i)) for i in range(3)]
    programs = ["x", "y" * 5_000, "z" * 5_000]
    for event, which, place in events:
        if event == "change":
            arrays[which][place] += 1
        elif event == "forget":
            shelf.held.clear()
        elif event == "heal":
            shelf.refuses = shelf.fails = False
        elif event in ("refuse", "fail"):
            setattr(shelf, f"{event}s", True)
        ask(memory, shelf, arrays[which], programs[place % 3])


@pytest.mark.parametrize("trouble", ["refuses", "fails"])
def test_after_a_failed_store_values_are_sent_inline_for_a_minute(trouble):
    clock = Clock()
    memory, shelf, x = Residents(clock=clock), CachedRepository(), np.ones(10_000)
    setattr(shelf, trouble, True)
    for _ in range(10):
        ask(memory, shelf, x)
    assert shelf.stored == 1
    assert shelf.sent[-1] > x.nbytes
    setattr(shelf, trouble, False)
    for seconds, is_inline in ((59.5, True), (0.5, False)):
        clock.advance(seconds)
        for _ in range(3):
            ask(memory, shelf, x)
        assert (shelf.sent[-1] > x.nbytes) == is_inline
    assert shelf.sent[-1] < 200


def test_a_call_without_references_is_not_repeated_when_the_store_fails():
    asked = []

    def send(call):
        asked.append(call)
        raise gradwire.StoreUnavailable("no", status=503, code="store_unavailable")

    call = Call("POST", "/v1/tapes/t/gradient", {"sources": "x"}, outputs)
    with pytest.raises(gradwire.StoreUnavailable):
        drive(Residents().conversation(call), send)
    assert len(asked) == 1


def test_a_service_that_loses_records_gets_values_inline():
    class Forgetful(CachedRepository):
        def _store(self, call, value, response):
            self.stored += 1
            return Reply({}, response)

    memory, shelf, x = Residents(), Forgetful(), np.ones(10_000)
    for _ in range(10):
        ask(memory, shelf, x)
    assert (shelf.stored, shelf.sent[-1] > x.nbytes) == (2, True)  # then it pauses


def test_memory_is_limited_and_the_least_recent_is_forgotten():
    memory, shelf = Residents(200_000), CachedRepository()  # room for two arrays
    arrays = [np.full(10_000, float(i)) for i in range(5)]
    for x in arrays:
        for _ in range(4):
            ask(memory, shelf, x)
    sent = []
    for x in reversed(arrays):
        ask(memory, shelf, x)
        sent.append(shelf.sent[-1] < 200)
    assert sent == [True, True, False, False, False]


def test_long_programs_count_towards_the_limit():
    memory, shelf, x = Residents(200_000), CachedRepository(), np.ones(3)
    programs = [letter * 60_000 for letter in "abcd"]
    for program in programs:
        for _ in range(4):
            ask(memory, shelf, x, program)
    sent = []
    for program in reversed(programs):
        ask(memory, shelf, x, program)
        sent.append(shelf.sent[-1] < 60_000)
    assert sent == [True, True, True, False]
    ask(memory, shelf, x, "e" * 300_000)  # larger than the limit: never sent by reference


def test_the_number_of_remembered_values_is_limited():
    memory, shelf, x = Residents(), CachedRepository(), np.ones(10_000)
    for _ in range(3):
        ask(memory, shelf, x)
    many = np.arange(10_000.0 + MOST_ENTRIES)
    for i in range(MOST_ENTRIES):
        memory.conversation(Call("POST", "/v1/evaluate", {"x": many[i : 10_000 + i]}, outputs))
    ask(memory, shelf, x)
    assert shelf.sent[-1] > x.nbytes


@pytest.mark.parametrize("trouble", ["refuses", "fails"])
def test_values_sent_in_full_are_those_of_the_question(trouble):
    memory, shelf, x = Residents(), CachedRepository(), np.ones(10_000)
    small, program = np.ones(3), "y" * 5_000
    for _ in range(2):
        ask(memory, shelf, x, program)
    setattr(shelf, trouble, True)
    document = {"program": program, "x": x, "small": small, "deep": [{"ref": "other"}, {"ref": x}]}
    asked = memory.conversation(Call("POST", "/v1/evaluate", document, lambda reply: reply))
    x[0] = small[0] = 2.0
    contents: list[bytes] = []

    def send(call: Call[Any]) -> Any:
        if call.content is not None:
            contents.append(call.content)
            document = msgpack.unpackb(call.content)
            if trouble == "fails" and "ref" in document["x"]:
                raise gradwire.StoreUnavailable("no", status=503, code="store_unavailable")
            return None
        return shelf.send(call)

    drive(asked, send)
    sent = codec.decode(contents[-1])
    assert (sent["program"], sent["deep"][0]) == (program, {"ref": "other"})
    for array in (sent["x"], sent["small"], sent["deep"][1]["ref"]):
        np.testing.assert_array_equal(array, 1.0)


def test_arrays_of_threads_with_equal_samples_are_distinguished():
    memory, shelf, shared = Residents(), CachedRepository(), np.arange(10_000.0)
    start = threading.Barrier(8)

    def often(place: int) -> None:
        own = np.zeros(10_000)
        start.wait()
        for i in range(30):
            own[place] = 1 + i // 8
            ask(memory, shelf, own)
            ask(memory, shelf, shared)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(often, range(1, 9)))

"""What the SDK gives can be pickled and copied, or says by name that it cannot."""

import asyncio
import copy
import pickle
from collections.abc import Callable
from typing import Any, NamedTuple, cast

import cloudpickle
import gradwire
import httpx
import numpy as np
import pytest


def loss(w):
    return np.sum((w.a - 3.0) ** 2) + w.b**2


def difference(x):
    return x - 1.0


class Weights(NamedTuple):
    a: Any
    b: Any


START = Weights(np.zeros(2), 1.0)
WAYS = {
    "pickle": lambda value: pickle.loads(pickle.dumps(value)),
    "the oldest protocol": lambda value: pickle.loads(pickle.dumps(value, 2)),
    "cloudpickle": lambda value: pickle.loads(cloudpickle.dumps(value)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}
X = {"x": np.array([1.0, 2.0])}
#: Each makes a public object by a client.
MADE: dict[str, Callable[[Any], Any]] = {
    "client": lambda client: client,
    "client with options": lambda client: client.with_options(timeout=3, home="h", placement="gpu"),
    "programs": lambda client: client.programs,
    "jobs": lambda client: client.jobs,
    "Evaluation": lambda client: client.evaluate("x", X),
    "Gradient": lambda client: client.gradient("sum(x**2)", X),
    "Jacobian": lambda client: client.jacobian("x**2", X, format="coo"),
    "Hessian": lambda client: client.hessian("sum(x**2)", X),
    "Jvp": lambda client: client.jvp("x", X, X),
    "Hvp": lambda client: client.hvp("sum(x**2)", X, X),
    "Check": lambda client: client.check("sum(x**2)", X),
    "Explanation": lambda client: client.explain("sum(x**2)", X),
    "Limits": lambda client: client.limits(),
    "Operation": lambda client: next(iter(client.ops())),
    "Reply": lambda client: client.request("GET", "/v1/limits"),
    "Drawing": lambda client: client.draw("sum(x**2)", X),
    "StoredProgram": lambda client: client.programs.register("x + 1"),
    "StoredTensor": lambda client: client.tensors.put(np.ones(3)),
    "Tape": lambda client: client.tape("sum(x**2)", X, persistent=True),
    "StoredTape": lambda client: client.tapes.open(client.tape("x", X, persistent=True).id),
    "OptimizeResult": lambda client: client.minimize(loss, START),
    "Job of a function": lambda client: client.minimize(loss, START, background=True),
    "Job of a program": lambda client: client.minimize("x**2", {"x": 1.0}, background=True),
    "Job of a root": lambda client: client.root(difference, np.zeros(2), background=True),
    "Job by its id": lambda client: client.jobs.get(
        client.least_squares(difference, np.zeros(2), background=True).id
    ),
    "Function": lambda client: client.function(loss),
    "Function of a gradient": lambda client: client.grad(loss),
    "program": lambda _: gradwire.program("x + 1", "x"),
    "decorator": lambda _: gradwire.grad(argnums=0),
    "SparseArray": lambda _: gradwire.SparseArray(np.array([[0]]), np.ones(1), (2,)),
    "RaggedArray": lambda _: gradwire.RaggedArray.of([[1.0], []]),
    "ChunkedArray": lambda _: gradwire.ChunkedArray({"zarr": "x"}, (3,)),
    "UsageError": lambda _: gradwire.UsageError("a", hint="b"),
    "TransportError": lambda _: gradwire.TransportError("a", hint="b"),
    "RequestTimeout": lambda _: gradwire.RequestTimeout("a", hint="b"),
    "NotInstalled": lambda _: gradwire.NotInstalled("a", hint="b", name="c"),
    "NotTraceable": lambda _: gradwire.NotTraceable("a", hint="b", place="c"),
    "MalformedReply": lambda _: gradwire.MalformedReply("a", hint="b"),
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_what_clients_give_can_be_copied(client, make, way):
    value = make(client)
    again = way(value)
    assert type(again) is type(value)
    if not hasattr(value, "__wrapped__"):
        assert repr(again).partition(" at 0x")[0] == repr(value).partition(" at 0x")[0]


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_copied_job_gives_its_result_as_it_was_started(client, way):
    found = way(client.minimize(loss, START, background=True)).result(timeout=600)
    assert type(found.x) is Weights
    assert found.x.a.dtype == np.float64
    assert found.x.a == pytest.approx(3.0)
    root = way(client.root(difference, {"a": np.zeros(2)}["a"], background=True)).result()
    assert root.x == pytest.approx(1.0)
    assert root.fun == pytest.approx(0.0)


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_job_of_an_asynchronous_client_can_be_copied(service_url, way):
    client = gradwire.AsyncClient(service_url)

    async def started():
        return await client.minimize("(x - 3)**2", {"x": 0.0}, background=True)

    async def ended(job):
        assert type(job) is gradwire.AsyncJob
        found = await job.result(timeout=600)
        await cast("gradwire.AsyncClient", job._client).close()
        return found

    assert asyncio.run(ended(way(asyncio.run(started())))).x == {"x": pytest.approx(3.0)}


def test_a_copied_job_names_the_place_of_an_error(client):
    def fails(x):
        return np.sum(np.linalg.inv(np.outer(x, x))) + np.sum(x**2)

    job = client.minimize(fails, np.ones(2), background=True)
    with pytest.raises(gradwire.DomainError) as told:
        pickle.loads(cloudpickle.dumps(job)).result(timeout=600)
    with pytest.raises(gradwire.DomainError) as expected:
        job.result(timeout=600)
    assert told.value.__notes__ == expected.value.__notes__
    assert __file__ in told.value.__notes__[0]


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_client_keeps_its_home(service_url, way):
    options = gradwire.Client(service_url).with_options(home="here", timeout=7)
    assert way(options)._options == options._options


def _bound(made):
    """A client that stays in this process, and what it makes."""
    return [made, *(make(made) for make in (MADE["Tape"], MADE["Job of a program"]))]


@pytest.mark.parametrize("way", ["pickle", "the oldest protocol", "cloudpickle", "deepcopy"])
def test_what_stays_in_a_process_says_so(service_url, way):
    with (
        gradwire.Client.local() as local,
        httpx.Client() as http,
        gradwire.Client(service_url, http_client=http) as other,
    ):
        for value in (*_bound(local), *_bound(other)):
            with pytest.raises(gradwire.UsageError, match="cannot be pickled") as told:
                WAYS[way](value)
            assert told.value.hint

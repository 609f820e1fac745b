"""The types of optimisations, as type checkers see them: this file has to be accepted by mypy."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Iterator
from typing import Any, assert_type

import gradwire


def of_the_client(client: gradwire.Client) -> None:
    assert_type(client.minimize("x", {"x": 1.0}), gradwire.OptimizeResult)
    assert_type(client.minimize("x", {"x": 1.0}, background=True), gradwire.Job)
    assert_type(client.least_squares("x", loss="huber").x, Any)
    assert_type(client.root("x", background=True).result(), gradwire.OptimizeResult)
    assert_type(client.jobs.list(), list[gradwire.Job])
    assert_type(client.jobs.events("id"), Iterator[gradwire.JobProgress])
    assert_type(client.jobs.result("id", timeout=1.0).nit, int)


async def of_the_async_client(client: gradwire.AsyncClient) -> None:
    assert_type(await client.minimize("x", {"x": 1.0}), gradwire.OptimizeResult)
    job = await client.minimize("x", {"x": 1.0}, background=True)
    assert_type(job, gradwire.AsyncJob)
    assert_type(await job.result(timeout=1.0), gradwire.OptimizeResult)
    assert_type(job.events(), AsyncIterator[gradwire.JobProgress])


def of_the_module() -> None:
    assert_type(gradwire.minimize("x", {"x": 1.0}), gradwire.OptimizeResult)
    assert_type(gradwire.least_squares("x", background=True), gradwire.Job)


def test_the_module_and_the_clients_take_the_same_arguments():
    for name in ("minimize", "least_squares", "root"):
        method = inspect.signature(getattr(gradwire.Client, name)).parameters
        function = inspect.signature(getattr(gradwire, name)).parameters
        assert [*method] == ["self", *(each for each in function if each != "client")]

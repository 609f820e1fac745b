"""Routes that run tasks: a row of a table each."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from fastapi import APIRouter, Request
from starlette.responses import Response

from gradwire_service.openapi.operations import path_parameters
from gradwire_service.routes.offload import Offloader

#: Default number of records on a page.
_PAGE = "100"


class TaskRoute(NamedTuple):
    """A route, its task, and its documentation.

    The arguments of the task are the parameters of the path, and after them ``arguments``.
    """

    method: str
    path: str
    task: str
    operation: Mapping[str, Any]
    arguments: Callable[[Request], Sequence[str]] = lambda _: ()


def page_of(request: Request) -> Sequence[str]:
    """The id after which a page begins, and the most records on it."""
    query = request.query_params
    return query.get("after", ""), query.get("limit", _PAGE)


def router(offloader: Offloader, table: Iterable[TaskRoute]) -> APIRouter:
    """The routes of a table; the tag of one is its resource, unless its documentation has one."""
    routes = APIRouter()
    for row in table:
        operation = {"tags": [row.path.split("/")[2]], **row.operation}
        extra = operation.pop("openapi_extra", {})
        parameters = [*path_parameters(row.path), *extra.get("parameters", ())]
        extra = extra | {"parameters": parameters} if parameters else extra
        endpoint = _endpoint(offloader, row)
        routes.add_api_route(
            row.path, endpoint, methods=[row.method], openapi_extra=extra, **operation
        )
    return routes


def _endpoint(offloader: Offloader, row: TaskRoute) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        arguments = *request.path_params.values(), *row.arguments(request)
        return await offloader.answer(request, row.task, *arguments)

    return endpoint

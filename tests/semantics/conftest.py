"""Questions asked over the wire, where the rules hold for clients in any language."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from tests.patient import patient_app


class Wire:
    """The real application, asked in one line."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self.http = http

    async def post(self, path: str, program: Any, variables: Any, **fields: Any) -> httpx.Response:
        document = {"program": program, "variables": variables or {}, **fields}
        return await self.http.post(path, json=document)

    async def answer(self, program: Any, variables: Any = None, **fields: Any) -> Any:
        """The answer of ``/v1/gradient``."""
        response = await self.post("/v1/gradient", program, variables, **fields)
        assert response.status_code == 200, response.text
        return response.json()

    async def gradients(self, program: Any, variables: Any = None, **fields: Any) -> Any:
        return (await self.answer(program, variables, **fields))["gradients"]

    async def reasons(self, program: Any, variables: Any = None, **fields: Any) -> Any:
        """Why gradients do not exist, by their sources' paths."""
        told = (await self.answer(program, variables, **fields)).get("unconnected", {})
        return {path: why["reason"] for path, why in told.items()}

    async def value(self, program: Any, variables: Any = None, **fields: Any) -> Any:
        """The outputs of ``/v1/evaluate``."""
        response = await self.post("/v1/evaluate", program, variables, **fields)
        assert response.status_code == 200, response.text
        return response.json()["outputs"]

    async def code(self, program: Any, variables: Any = None, **fields: Any) -> tuple[Any, ...]:
        """Code and pointer with which a gradient is refused."""
        response = await self.post("/v1/gradient", program, variables, **fields)
        assert response.status_code >= 400, response.text
        problem = response.json()
        return problem["code"], problem["pointer"]


# By module: an event loop lasts as long as its fixtures, and other modules have another one.
@pytest.fixture(scope="module")
async def wire() -> AsyncIterator[Wire]:
    app = patient_app()
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://service") as http:
        yield Wire(http)
    app.state.executors.shut()

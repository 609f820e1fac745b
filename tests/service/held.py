"""Requests that are in flight for as long as a test wants them to be."""

import asyncio
import json


class Held:
    """A request that has begun, and whose body ends when it is let ``go``."""

    def __init__(self, client, path, document, headers=None):
        self._read, self._going = asyncio.Event(), asyncio.Event()
        headers = {"content-type": "application/json"} | (headers or {})
        body = self._body(json.dumps(document).encode())
        self.answer = asyncio.create_task(client.post(path, content=body, headers=headers))

    async def __aenter__(self):
        await self._read.wait()
        return self

    async def __aexit__(self, *_):
        self.answer.cancel()
        await asyncio.gather(self.answer, return_exceptions=True)

    async def go(self):
        """The response to the whole request."""
        self._going.set()
        return await self.answer

    async def _body(self, content):
        yield content[:1]
        self._read.set()  # the service waits for the rest
        await self._going.wait()
        yield content[1:]

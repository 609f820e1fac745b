"""Notices of changes by Redis' publish and subscribe, a channel for each record that is watched."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress

from redis.asyncio import Redis
from redis.asyncio.client import PubSub
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from gradwire_service.store.interface import Subscription
from gradwire_service.store.records import Key, Notice

logger = logging.getLogger("gradwire")

#: Time between attempts to subscribe.
_RETRY_SECONDS = 1.0


class RedisSubscription(Subscription):
    """One connection, opened anew when it is lost; then notices may have been missed."""

    def __init__(
        self,
        url: str,
        channel: Callable[[Key], str],
        heard: Callable[[Notice | None], None],
    ) -> None:
        self._url, self._channel, self._heard = url, channel, heard
        self._watched: dict[str, Key] = {}
        self._connected: PubSub | None = None
        self._woken = asyncio.Event()

    async def watch(self, key: Key) -> None:
        channel = self._channel(key)
        self._watched[channel] = key
        self._woken.set()
        if self._connected is not None:
            with suppress(RedisError, OSError):  # subscribed to when there is a connection again
                await self._connected.subscribe(channel)

    async def leave(self, key: Key) -> None:
        channel = self._channel(key)
        self._watched.pop(channel, None)
        if self._connected is not None:
            with suppress(RedisError, OSError):
                await self._connected.unsubscribe(channel)

    async def listen(self) -> None:
        client = Redis.from_url(
            self._url, protocol=2, socket_keepalive=True, retry=Retry(NoBackoff(), 0)
        )
        logged = False
        try:
            while True:
                self._woken.clear()
                if not self._watched:
                    await self._woken.wait()
                try:
                    await self._hear(client)
                    logged = False
                except (RedisError, OSError) as error:
                    if not logged:
                        logger.warning("no notices from the store, it is asked instead: %s", error)
                    logged = True
                    await asyncio.sleep(_RETRY_SECONDS)
        finally:
            await client.aclose()

    async def _hear(self, client: Redis) -> None:
        """Pass on what is published until nothing is watched, or the connection is lost."""
        async with client.pubsub(ignore_subscribe_messages=True) as connected:
            await connected.subscribe(*self._watched)
            self._connected = connected
            self._heard(None)
            try:
                async for message in connected.listen():
                    key = self._watched.get(message["channel"].decode())
                    if key is not None:
                        origin, _, text = message["data"].decode().partition(" ")
                        self._heard(Notice(key, origin, text))
            finally:
                self._connected = None

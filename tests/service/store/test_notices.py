"""Processes that share a store hear of each other's changes, or see that there were some."""

import asyncio
import re
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from gradwire_service.store.memory import MemoryStore
from gradwire_service.store.records import Change, Notice
from gradwire_service.store.sqlite import SqliteStore

from tests.service.store.given import POLICIES, RECORD, key, opened


class Heard:
    """What a subscription has heard."""

    def __init__(self):
        self.notices = asyncio.Queue[Notice | None]()

    def __call__(self, notice):
        self.notices.put_nowait(notice)

    @asynccontextmanager
    async def listening(self, store):
        subscription = store.subscribe(self)
        task = asyncio.create_task(subscription.listen())
        try:
            yield subscription
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


def url_of(server, client):
    """The address for a user with the documented rights."""
    page = (Path(__file__).parents[3] / "docs/reference/stores.md").read_text(encoding="utf-8")
    (user,) = re.findall(r"^user gradwire (.+)$", page, re.MULTILINE)
    client.execute_command("ACL", "SETUSER", "gradwire", *user.split())
    return server.url.replace("redis://", "redis://gradwire:secret@")


async def test_redis_tells_all_who_watch_a_record(server):
    heard = Heard()
    with server.client() as operator:
        url = url_of(server, operator)
        with opened(url) as here, opened(url) as there:
            async with heard.listening(there) as subscription:
                assert here.commit([Change(key(), *RECORD)], Notice(key(), "here")) == 0
                await subscription.watch(key())
                assert await heard.notices.get() is None  # some may have been missed
                assert here.commit([Change(key(), "2")], Notice(key(), "here")) == 1
                assert await heard.notices.get() == Notice(key(), "here")
                news = Notice(key(), "here", "7 it goes on")
                assert here.publish(news) == 1
                assert await heard.notices.get() == news
                assert here.publish(Notice(key("b"), "here", "8 nobody listens")) == 0
                await subscription.watch(key("b"))
                while here.commit([Change(key("b"), "1")], Notice(key("b"))) == 0:  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
                assert await heard.notices.get() == Notice(key("b"))
                await subscription.leave(key())
                while here.commit([Change(key(), "3")], Notice(key())):  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
                operator.client_kill_filter(_type="pubsub")
                while await heard.notices.get() is not None:
                    pass
                assert here.commit([Change(key("b"), "2")], Notice(key("b"))) == 1
                assert await heard.notices.get() == Notice(key("b"))


@pytest.mark.parametrize("opened_store", [MemoryStore, lambda *_: SqliteStore(":memory:", *_)])
async def test_a_process_hears_of_its_own_changes(opened_store, clock):
    store, heard = opened_store(POLICIES, clock), Heard()
    async with heard.listening(store):
        store.commit([Change(key(), *RECORD, None)], Notice(key(), "here"))
        assert store.commit([Change(key(), *RECORD, None)], Notice(key(), "here")) is None
        store.commit([Change(key(), None)])
        news = Notice(key(), "here", "7 it goes on")
        assert store.publish(news) == 0
        assert heard.notices.get_nowait() == Notice(key(), "here")
        assert heard.notices.get_nowait() == news
        assert heard.notices.empty()
    store.close()


def test_a_file_knows_whether_another_process_has_changed_it(tmp_path, clock):
    here, there = (SqliteStore(str(tmp_path / "one.db"), POLICIES, clock) for _ in range(2))
    here.may_have_changed()
    here.commit([Change(key(), *RECORD)])
    assert not here.may_have_changed()
    there.commit([Change(key(), "2")])
    assert here.may_have_changed()
    assert not here.may_have_changed()
    here.close()
    there.close()

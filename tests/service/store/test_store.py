"""Every store keeps what the seam promises, also to several processes at once."""

import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from gradwire_service.problems import Refusal
from gradwire_service.settings import Settings
from gradwire_service.store import Recipe, open_store
from gradwire_service.store.memory import MemoryStore
from gradwire_service.store.sqlite import SqliteStore
from gradwire_service.store.tapes import CONSUMED_SECONDS, Amount, Key, Quota

QUOTA = Quota(owned=Amount(3, 100), all=Amount(5, 150), ttl_seconds=10)
ME, YOU = "me", "you"
RECIPE = Recipe("application/json", b"a recipe", persistent=True)


class Clock:
    """A time that passes when told."""

    now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture(params=["memory", "sqlite"])
def store(request, clock, tmp_path):
    kept_in_memory = request.param == "memory"
    path = str(tmp_path / "tapes.db")
    store = MemoryStore(QUOTA, clock) if kept_in_memory else SqliteStore(path, QUOTA, clock)
    yield store
    store.close()


def test_what_is_added_is_found(store):
    for recipe in RECIPE, Recipe("application/msgpack", b"\x00\xff", persistent=False):
        key, expires_at = store.add(ME, recipe)
        assert store.find(key) == (recipe, expires_at)


def test_tokens_are_not_guessed(store, clock):
    tokens = set()
    for _ in range(100):
        key, _ = store.add(ME, RECIPE)
        tokens.add(key.token)
        store.remove(key)
    assert len(tokens) == 100
    assert all(len(token) >= 32 for token in tokens)


def test_each_use_moves_the_end_on(store, clock):
    key, expires_at = store.add(ME, RECIPE)
    for _ in range(5):
        clock.now += 9
        held = store.find(key)
        assert held.expires_at == clock.now + QUOTA.ttl_seconds > expires_at
    clock.now += 10
    assert store.find(key) is None
    assert not store.consume(key)
    assert not store.remove(key)


def test_a_tape_is_used_up_once(store, clock):
    key, _ = store.add(ME, RECIPE)
    assert store.consume(key)
    assert not store.consume(key)
    assert store.find(key).recipe is None
    clock.now += CONSUMED_SECONDS
    assert store.find(key) is None


def test_what_is_removed_is_unknown(store):
    for use_up in False, True:
        key, _ = store.add(ME, RECIPE)
        if use_up:
            store.consume(key)
        assert store.remove(key)
        assert not store.remove(key)
        assert store.find(key) is None


def test_tapes_are_counted_until_they_end(store, clock):
    keys = [store.add(ME, RECIPE)[0] for _ in range(QUOTA.owned.tapes)]
    for free in (
        lambda: store.remove(keys[0]),
        lambda: store.consume(keys[1]),
        lambda: setattr(clock, "now", clock.now + 10),
    ):
        with pytest.raises(Refusal) as refusal:
            store.add(ME, RECIPE)
        assert refusal.value.code == "over_budget"
        free()
        store.add(ME, RECIPE)


def test_bytes_are_counted_until_they_end(store):
    large = RECIPE._replace(body=b"x" * QUOTA.owned.nbytes)
    key, _ = store.add(ME, large)
    with pytest.raises(Refusal) as refusal:
        store.add(ME, RECIPE)
    assert refusal.value.code == "over_budget"
    store.remove(key)
    store.add(ME, large)


def test_what_one_owner_has_is_unknown_to_others(store):
    key, _ = store.add(ME, RECIPE)
    foreign = Key(YOU, key.token)
    assert store.find(foreign) is None
    assert not store.consume(foreign)
    assert not store.remove(foreign)
    assert store.consume(key)
    assert store.find(foreign) is None


def test_owners_have_quotas_of_their_own_within_that_of_all(store):
    mine = [store.add(ME, RECIPE)[0] for _ in range(QUOTA.owned.tapes)]
    for _ in range(QUOTA.all.tapes - QUOTA.owned.tapes):
        store.add(YOU, RECIPE)
    with pytest.raises(Refusal, match="all tapes would be 6"):
        store.add(YOU, RECIPE)
    with pytest.raises(Refusal, match="the tapes of your key would be 4"):
        store.add(ME, RECIPE)
    store.remove(mine[0])
    store.add(YOU, RECIPE)


def test_one_of_many_threads_uses_a_tape_up(store):
    key, _ = store.add(ME, RECIPE)
    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(lambda _: store.consume(key), range(64))) == 1


WORKER = """
import sys
from gradwire_service.store.sqlite import SqliteStore
from gradwire_service.store.tapes import Amount, Key, Quota, Recipe
store = SqliteStore(sys.argv[1], Quota(Amount(1000, 1 << 20), Amount(1000, 1 << 20), 100))
keys = [Key("me", token) for token in sys.argv[2:]]
for _ in range(50):
    key, _ = store.add("me", Recipe("application/json", b"mine", True))
    assert store.find(key).recipe.body == b"mine"
print(sum(store.consume(key) for key in keys))
store.close()
"""


def test_processes_share_a_file(tmp_path):
    path = str(tmp_path / "tapes.db")
    first = SqliteStore(path, Quota(Amount(1000, 1 << 20), Amount(1000, 1 << 20), 100))
    tokens = [first.add(ME, RECIPE)[0].token for _ in range(20)]
    first.close()
    started = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, path, *tokens], stdout=subprocess.PIPE, text=True
        )
        for _ in range(3)
    ]
    used_up = [process.communicate()[0] for process in started]
    assert [process.returncode for process in started] == [0, 0, 0]
    assert sum(map(int, used_up)) == len(tokens)


def test_a_file_of_another_version_begins_anew(tmp_path, clock):
    path = str(tmp_path / "tapes.db")
    old = sqlite3.connect(path)
    old.execute("CREATE TABLE tapes (token TEXT PRIMARY KEY, body BLOB)")
    old.close()
    store = SqliteStore(path, QUOTA, clock)
    key, _ = store.add(ME, RECIPE)
    store.close()
    again = SqliteStore(path, QUOTA, clock)
    held = again.find(key)
    assert held is not None
    assert held.recipe == RECIPE
    again.close()


def test_the_settings_name_the_store(tmp_path):
    for text, kind in ("memory:", MemoryStore), (f"sqlite:{tmp_path}/t.db", SqliteStore):
        store = open_store(Settings(store=text))
        assert type(store) is kind
        store.close()
    with pytest.raises(ValueError, match="store"):
        Settings(store="elsewhere")

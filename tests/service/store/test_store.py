"""Every store keeps what the seam promises, also to several processes at once."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from gradwire_service.problems import Refusal
from gradwire_service.settings import Settings
from gradwire_service.store import Recipe, open_store
from gradwire_service.store.memory import MemoryStore
from gradwire_service.store.sqlite import SqliteStore
from gradwire_service.store.tapes import CONSUMED_SECONDS, Quota

QUOTA = Quota(tapes=3, nbytes=100, ttl_seconds=10)
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
        token, expires_at = store.add(recipe)
        assert store.find(token) == (recipe, expires_at)


def test_tokens_are_not_guessed(store, clock):
    tokens = set()
    for _ in range(100):
        token, _ = store.add(RECIPE)
        tokens.add(token)
        store.remove(token)
    assert len(tokens) == 100
    assert all(len(token) >= 32 for token in tokens)


def test_each_use_moves_the_end_on(store, clock):
    token, expires_at = store.add(RECIPE)
    for _ in range(5):
        clock.now += 9
        held = store.find(token)
        assert held.expires_at == clock.now + QUOTA.ttl_seconds > expires_at
    clock.now += 10
    assert store.find(token) is None
    assert not store.consume(token)
    assert not store.remove(token)


def test_a_tape_is_used_up_once(store, clock):
    token, _ = store.add(RECIPE)
    assert store.consume(token)
    assert not store.consume(token)
    assert store.find(token).recipe is None
    clock.now += CONSUMED_SECONDS
    assert store.find(token) is None


def test_what_is_removed_is_unknown(store):
    for use_up in False, True:
        token, _ = store.add(RECIPE)
        if use_up:
            store.consume(token)
        assert store.remove(token)
        assert not store.remove(token)
        assert store.find(token) is None


def test_tapes_are_counted_until_they_end(store, clock):
    tokens = [store.add(RECIPE)[0] for _ in range(QUOTA.tapes)]
    for free in (
        lambda: store.remove(tokens[0]),
        lambda: store.consume(tokens[1]),
        lambda: setattr(clock, "now", clock.now + 10),
    ):
        with pytest.raises(Refusal) as refusal:
            store.add(RECIPE)
        assert refusal.value.code == "over_budget"
        free()
        store.add(RECIPE)


def test_bytes_are_counted_until_they_end(store):
    large = RECIPE._replace(body=b"x" * QUOTA.nbytes)
    token, _ = store.add(large)
    with pytest.raises(Refusal) as refusal:
        store.add(RECIPE)
    assert refusal.value.code == "over_budget"
    store.remove(token)
    store.add(large)


def test_one_of_many_threads_uses_a_tape_up(store):
    token, _ = store.add(RECIPE)
    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(lambda _: store.consume(token), range(64))) == 1


WORKER = """
import sys
from gradwire_service.store.sqlite import SqliteStore
from gradwire_service.store.tapes import Quota, Recipe
store = SqliteStore(sys.argv[1], Quota(1000, 1 << 20, 100))
tokens = sys.argv[2:]
for _ in range(50):
    token, _ = store.add(Recipe("application/json", b"mine", True))
    assert store.find(token).recipe.body == b"mine"
print(sum(store.consume(token) for token in tokens))
store.close()
"""


def test_processes_share_a_file(tmp_path):
    path = str(tmp_path / "tapes.db")
    first = SqliteStore(path, Quota(1000, 1 << 20, 100))
    tokens = [first.add(RECIPE)[0] for _ in range(20)]
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


def test_the_settings_name_the_store(tmp_path):
    for text, kind in ("memory:", MemoryStore), (f"sqlite:{tmp_path}/t.db", SqliteStore):
        store = open_store(Settings(store=text))
        assert type(store) is kind
        store.close()
    with pytest.raises(ValueError, match="store"):
        Settings(store="elsewhere")

"""An SQLite file is shared by processes, survives them, and reports failures."""

import math
import signal
import sqlite3
import stat
import sys

import pytest
from gradwire_service.store.interface import NotOpened
from gradwire_service.store.quotas import Amount, Policy
from gradwire_service.store.sqlite import SqliteStore

from tests.service.forked import FORKING, forked
from tests.service.store.given import ME, POLICIES, RECORD, ids, kept, key, of_size, unavailable

WORKER = """
from gradwire_service.store import Key, Record
from gradwire_service.store.quotas import Amount, Policy
from gradwire_service.store.sqlite import SqliteStore
most = Amount(1000, 1 << 20)
policy = Policy(most, most, 100)
store = SqliteStore(path, {"tapes": policy, "used": policy})
for number in range(50):
    key = Key("tapes", "me", f"{process} {number}")
    store.put(key, Record("", b"mine"))
    assert store.find(key).body == b"mine"
used_up.put(sum(store.consume(Key("tapes", "me", id)) for id in shared))
store.close()
"""


def test_processes_share_a_file(tmp_path):
    path, many = str(tmp_path / "records.db"), Amount(1000, 1 << 20)
    first = SqliteStore(path, POLICIES | {"tapes": Policy(many, many, 100)})
    shared = [f"shared {number}" for number in range(20)]
    for id in shared:
        first.put(key(id), RECORD)
    used_up = FORKING.SimpleQueue()
    processes = [
        forked(WORKER, path=path, process=number, shared=shared, used_up=used_up)
        for number in range(3)
    ]
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0, 0]
    assert sum(used_up.get() for _ in processes) == len(shared)
    assert len(first.list_records("tapes", ME, "", 1000)) == 150
    first.close()


DYING = """
import os, signal
from gradwire_service.store import Key, Record
from gradwire_service.store.quotas import Amount, Policy
from gradwire_service.store.sqlite import SqliteStore
most = Amount(1000, 1 << 20)
store = SqliteStore(path, {"programs": Policy(most, most)})
store.put(Key("programs", "me", "a"), Record("head", b"body"))
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_records_survive_a_killed_process(tmp_path):
    path = str(tmp_path / "records.db")
    killed = forked(DYING, path=path)
    killed.join()
    assert killed.exitcode == -signal.SIGKILL
    store = SqliteStore(path, POLICIES)
    assert store.find(key(kind="programs")) == ("head", b"body", math.inf, None)
    store.close()


def test_two_stores_on_one_file_see_each_other(tmp_path, clock):
    path = str(tmp_path / "records.db")
    stores = [SqliteStore(path, POLICIES, clock) for _ in range(2)]
    stores[0].put(key(), RECORD)
    assert kept(stores[1], key()) == RECORD
    assert stores[1].consume(key())
    assert kept(stores[0], key()) == ("", b"")
    for store in stores:
        store.close()


def test_a_locked_file_fails_quickly(tmp_path, clock):
    path = str(tmp_path / "records.db")
    store = SqliteStore(path, POLICIES, clock, busy_seconds=0.01)
    store.put(key(), RECORD)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    for work in (
        lambda: store.put(key("b"), RECORD),
        lambda: store.consume(key()),
        lambda: store.remove(key()),
    ):
        assert unavailable(work) == "the store is busy"
    assert kept(store, key()) == RECORD
    assert ids(store, "tapes") == ["a"]
    other.execute("COMMIT")
    other.close()
    assert kept(store, key()) == RECORD
    assert ids(store, "tapes") == ["a"]
    store.close()


@pytest.mark.parametrize(
    ("pragma", "ended", "detail"),
    [
        ("max_page_count", 1 << 30, "the disk of the store is full"),
        ("query_only", 0, "the store cannot be written to"),
    ],
)
def test_failed_writes_are_refused_and_logged(tmp_path, clock, caplog, pragma, ended, detail):
    most = Amount(10, 1 << 20)
    store = SqliteStore(str(tmp_path / "records.db"), {"programs": Policy(most, most)}, clock)
    store.put(key(kind="programs"), RECORD)
    store._file.connection.execute(f"PRAGMA {pragma} = 1")
    assert unavailable(lambda: store.put(key("b", kind="programs"), of_size(100_000))) == detail
    assert detail in caplog.text
    store._file.connection.execute(f"PRAGMA {pragma} = {ended}")
    assert kept(store, key(kind="programs")) == RECORD
    assert ids(store, "programs") == ["a"]
    store.close()


def test_a_file_of_version_2_is_replaced(tmp_path, clock):
    path = str(tmp_path / "records.db")
    old = sqlite3.connect(path)
    old.execute("CREATE TABLE tapes (token TEXT PRIMARY KEY, body BLOB)")
    old.execute("PRAGMA user_version = 2")
    old.close()
    store = SqliteStore(path, POLICIES, clock)
    store.put(key(kind="programs"), RECORD)
    store.close()
    again = SqliteStore(path, POLICIES, clock)
    assert kept(again, key(kind="programs")) == RECORD
    again.close()


def test_a_file_of_version_3_is_migrated(tmp_path, clock):
    """In version 3 a used record had no size."""
    path = str(tmp_path / "records.db")
    store = SqliteStore(path, POLICIES, clock)
    store.put(key(kind="programs"), RECORD)
    store.close()
    old = sqlite3.connect(path)
    for table in "records", "bodies":
        old.execute(f"ALTER TABLE {table} DROP COLUMN checksum")
    (schema,) = old.execute("SELECT sql FROM sqlite_master WHERE name = 'records'").fetchone()
    (columns,) = old.execute(
        "SELECT group_concat(name) FROM pragma_table_info('records')"
    ).fetchone()
    old.execute("CREATE TABLE kept AS SELECT * FROM records")
    old.execute("DROP TABLE records")
    old.execute(schema.replace("nbytes INTEGER NOT NULL", "nbytes INTEGER"))
    old.execute("INSERT INTO records SELECT * FROM kept")
    old.execute("DROP TABLE kept")
    used_up = (7, "tapes", ME, "used", "", None, 1e9)
    old.execute(f"INSERT INTO records ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?)", used_up)
    old.execute("PRAGMA user_version = 3")
    old.commit()
    old.close()
    again = SqliteStore(path, POLICIES, clock)
    assert kept(again, key(kind="programs")) == RECORD
    assert again.find(key("used")) is None
    again.put(key("used"), RECORD)
    assert again.usage("tapes") == (1, RECORD.nbytes)
    again.close()


def test_a_file_of_a_later_version_is_left_unchanged(tmp_path, clock):
    path = str(tmp_path / "records.db")
    store = SqliteStore(path, POLICIES, clock)
    store.put(key(kind="programs"), RECORD)
    store.close()
    later = sqlite3.connect(path)
    later.execute("PRAGMA user_version = 1000")
    with pytest.raises(NotOpened, match="newer"):
        SqliteStore(path, POLICIES, clock)
    assert later.execute("SELECT count(*) FROM records").fetchone() == (1,)
    later.close()


@pytest.mark.skipif(sys.platform == "win32", reason="there are other rights")
def test_files_are_readable_only_by_their_owner(tmp_path):
    store = SqliteStore(str(tmp_path / "records.db"), POLICIES)
    store.put(key("a"), RECORD)
    made = list(tmp_path.iterdir())
    assert len(made) > 1  # including the write-ahead log
    assert {stat.S_IMODE(file.stat().st_mode) for file in made} == {0o600}
    store.close()


RESIDENT = """
import os
from gradwire_service.store import Key, Record
from gradwire_service.store.quotas import Amount, Policy
from gradwire_service.store.sqlite import SqliteStore
most = Amount(10, 1 << 30)
store = SqliteStore(path, {"tensors": Policy(most, most, 100)})

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

key = Key("tensors", "me", "one")
store.put(key, Record("", b"small"))
before = resident()
store.put(key, Record("", bytes(range(256)) * (1 << 18)))
assert store.find(key).body == bytes(range(256)) * (1 << 18)
found.put(resident() - before)
store.close()
"""


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform != "linux", reason="Linux tells what is resident")
def test_large_records_do_not_stay_in_memory(tmp_path):
    found = FORKING.SimpleQueue()
    process = forked(RESIDENT, path=str(tmp_path / "records.db"), found=found)
    process.join()
    assert process.exitcode == 0
    assert found.get() < 16 << 20

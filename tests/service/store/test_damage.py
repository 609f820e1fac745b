"""A damaged SQLite file never gives a wrong record or an untyped error."""

import sqlite3
from pathlib import Path
from random import Random

import pytest
from gradwire_service.problems import RequestError
from gradwire_service.store.interface import NotOpened
from gradwire_service.store.records import Record
from gradwire_service.store.sqlite import SqliteStore
from hypothesis import given
from hypothesis import strategies as st

from tests.effort import examples
from tests.service.store.given import KINDS, ME, PLENTY, RECORD, YOU, ids, kept, key, unavailable

PAGE = 4096
WHAT = "the file of the store is damaged"
#: Some records share a page, others fill several.
RECORDS = {
    key(f"{number}", owner, kind): Record(
        f'{{"n": {number}}}', Random(number).randbytes((50, 3000, 20_000)[number % 3])
    )
    for number in range(6)
    for owner in (ME, YOU)
    for kind in KINDS
}


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """The bytes of a file with all records."""
    path = tmp_path_factory.mktemp("sound") / "records.db"
    store = SqliteStore(str(path), PLENTY, lambda: 1000.0)
    for at, record in RECORDS.items():
        store.put(at, record)
    store.close()
    return path.read_bytes()


def garbage(draw, file):
    page = draw(st.integers(0, len(file) // PAGE - 1)) * PAGE
    start = page + draw(st.integers(0, PAGE - 1))
    length = draw(st.sampled_from([1, 16, 100, PAGE]))
    noise = Random(draw(st.integers(0, 2**32)))
    file[start : start + length] = noise.randbytes(min(length, len(file) - start))


def zeros(draw, file):
    page = draw(st.integers(0, len(file) // PAGE - 1)) * PAGE
    file[page : page + PAGE] = bytes(PAGE)


def another_page(draw, file):
    pages = st.integers(0, len(file) // PAGE - 1)
    page, other = draw(pages) * PAGE, draw(pages) * PAGE
    file[page : page + PAGE] = file[other : other + PAGE]


def truncated(draw, file):
    del file[draw(st.integers(0, len(file))) :]


def header(draw, file):
    file[:100] = Random(draw(st.integers(0, 2**32))).randbytes(100)


@pytest.mark.thorough
@pytest.mark.parametrize("running", [False, True], ids=["at the start", "running"])
@pytest.mark.parametrize(
    "damage", [garbage, zeros, another_page, truncated, header], ids=lambda f: f.__name__
)
@examples(40)
@given(data=st.data())
def test_after_any_damage_records_are_correct_or_refused(
    tmp_path_factory, sound, damage, running, data
):
    path = tmp_path_factory.mktemp("damaged") / "records.db"
    file = bytearray(sound)
    damage(data.draw, file)
    path.write_bytes(sound if running else file)
    store = opened(path)
    if store is None:
        return
    if running:
        store.usage("tapes")
        with path.open("r+b") as written:
            written.write(file)
            written.truncate()
    try:
        for at, record in RECORDS.items():
            with refusals():
                assert kept(store, at) in (None, record)
            with refusals():
                assert store.find(at, body=False) is None or store.find(at)
        for at in [*RECORDS][::5]:
            with refusals():
                store.put(at, RECORD)
                assert kept(store, at) in (None, RECORD)
        for kind in KINDS:
            with refusals():
                assert {*ids(store, kind)} <= {at.id for at in RECORDS}
            with refusals():
                store.usage(kind)
            with refusals():
                store.put(key("new", kind=kind), RECORD)
        for at in [*RECORDS][::3]:
            with refusals():
                store.consume(at, "somebody")
            with refusals():
                store.remove(at)
    finally:
        store.close()


def opened(path):
    """The store, or None if the damaged file seems to be from a later version of the service."""
    try:
        return SqliteStore(str(path), PLENTY, lambda: 1000.0)
    except NotOpened as error:
        if "newer" not in str(error):
            raise
        return None


class refusals:  # noqa: N801 - a context that reads as a sentence
    """Ignores typed errors of the store within the context."""

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        return isinstance(error, RequestError) and error.code in (
            "store_unavailable",
            "over_budget",
        )


def test_the_service_starts_with_a_damaged_file(tmp_path, caplog):
    path = tmp_path / "records.db"
    path.write_bytes(b"garbage" * 1000)
    store = SqliteStore(str(path), PLENTY)
    for work in (
        lambda: store.put(key(), RECORD),
        lambda: store.find(key()),
        lambda: store.remove(key()),
        lambda: store.consume(key()),
        lambda: store.usage("tapes"),
    ):
        assert unavailable(work) == WHAT
    assert path.read_bytes() == b"garbage" * 1000
    assert "move it away" in caplog.text
    assert str(path) in caplog.text
    path.unlink()
    store.put(key(), RECORD)
    assert kept(store, key()) == RECORD
    store.close()


def test_an_intact_copy_that_replaces_a_damaged_file_is_used(tmp_path, sound):
    path = tmp_path / "records.db"
    path.write_bytes(sound)
    store = SqliteStore(str(path), PLENTY, lambda: 1000.0)
    path.write_bytes(b"\0" * len(sound))
    assert unavailable(lambda: store.put(key(), RECORD)) == WHAT
    for beside in Path(tmp_path).glob("records.db-*"):
        beside.unlink()
    path.write_bytes(sound)
    assert all(kept(store, at) == record for at, record in RECORDS.items())
    store.close()


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE records SET head = 'other'",
        "UPDATE records SET head = x'ff'",
        "UPDATE records SET head = CAST(x'ff' AS TEXT)",
        "UPDATE bodies SET body = x'00'",
        "UPDATE bodies SET body = 'text'",
        "DELETE FROM bodies",
        "DROP TABLE records",
    ],
)
def test_a_modified_record_is_not_returned(tmp_path, change):
    path = str(tmp_path / "records.db")
    store = SqliteStore(path, PLENTY)
    store.put(key(), RECORD)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute(change)
    other.close()
    assert unavailable(lambda: store.find(key())) == WHAT
    store.close()

"""A disk that is really full: records can be deleted, which frees space."""

import os
import subprocess
import sys
from contextlib import suppress

import pytest
from gradwire_service.problems import RequestError
from gradwire_service.store.quotas import Amount, Policy
from gradwire_service.store.records import Key
from gradwire_service.store.sqlite import SqliteStore

from tests.service.store.given import PLENTY, RECORD, kept, key, of_size, unavailable

FULL = "the disk of the store is full"
DISK_BYTES = 8 << 20


@pytest.fixture
def disk(tmp_path):
    """A small disk for one test."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("root mounts a disk")
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", folder]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no disk can be mounted here")
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.fixture
def store(disk, clock):
    store = SqliteStore(str(disk / "records.db"), PLENTY, clock)
    yield store
    store.close()


def filled(store, nbytes, kind="tensors"):
    """Put records of this size until the disk is full; returns their keys."""
    held: list[Key] = []
    detail = None
    while detail is None and len(held) < 100_000:
        at = key(f"{nbytes} {len(held)}", kind=kind)
        try:
            store.put(at, of_size(nbytes))
        except RequestError as refusal:
            detail = refusal.detail
        else:
            held.append(at)
    assert detail == FULL
    return held


def use_up(folder):
    """Fill the disk, as another program might; returns the file."""
    path = folder / "other"
    with path.open("wb", buffering=0) as file, suppress(OSError):
        while file.write(b"x" * 1000):
            pass
    return path


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("nbytes", "kind"),
    [(10_000, "tensors"), (100_000, "tensors"), (100_000, "programs"), (1_500_000, "programs")],
)
def test_deleting_frees_space_repeatedly(store, nbytes, kind):
    first = filled(store, nbytes, kind)
    assert first
    for _ in range(2):
        for at in first:
            assert kept(store, at) == of_size(nbytes)
        for at in first:
            assert store.remove(at)
        again = filled(store, nbytes, kind)
        assert len(again) >= 0.9 * len(first)
        first = again


@pytest.mark.thorough
@pytest.mark.parametrize("nbytes", [10_000, 100_000])
def test_deleting_a_few_records_frees_space(store, nbytes):
    held = filled(store, nbytes)
    for first, second, third in zip(held[:12:3], held[1:12:3], held[2:12:3], strict=True):
        for at in first, second, third:
            assert store.remove(at)
        store.put(first, of_size(nbytes))
        assert kept(store, first) == of_size(nbytes)


@pytest.mark.parametrize("restarted", [False, True])
def test_records_can_be_deleted_when_others_filled_the_disk(disk, store, clock, restarted):
    held = [key(f"{number}", kind="tensors") for number in range(30)]
    for at in held:
        store.put(at, of_size(50_000))
    if restarted:
        store.close()
    other = use_up(disk)
    if restarted:
        store = SqliteStore(str(disk / "records.db"), PLENTY, clock)
    assert unavailable(lambda: store.put(key("large"), of_size(200_000))) == FULL
    for at in held[:20]:
        assert store.remove(at)
        assert store.find(at) is None
    assert all(kept(store, at) == of_size(50_000) for at in held[20:])
    other.unlink()
    store.put(key("large"), of_size(200_000))
    assert kept(store, key("large")) == of_size(200_000)
    store.close()


def test_expired_records_free_space(disk, clock):
    many = Amount(1000, 1 << 30)
    store = SqliteStore(str(disk / "records.db"), {"tensors": Policy(many, many, 10)}, clock)
    held = filled(store, 100_000)
    clock.now += 11
    assert len(filled(store, 100_000)) >= 0.9 * len(held)
    store.close()


def test_the_log_says_what_to_do_about_a_full_disk(disk, store, caplog):
    use_up(disk)
    assert unavailable(lambda: store.put(key(), RECORD)) == FULL
    assert "delete programs, tensors and tapes" in caplog.text

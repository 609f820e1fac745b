"""Machine code in a folder: whole or not at all, for one tenant, within a size."""

import logging
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest
from gradwire_service.machine_code import CodeFiles
from hypothesis import given
from hypothesis import strategies as st

CODE = bytes(range(256)) * 8


def files_of(folder: Path) -> list[Path]:
    return [path for path in folder.glob("*/*") if path.is_file()]


@pytest.fixture
def files(tmp_path):
    return CodeFiles(tmp_path / "code", 1 << 20)


def test_what_is_put_is_found_by_others_who_share_the_folder(tmp_path, files):
    files.put("alice", b"one", CODE)
    other = CodeFiles(tmp_path / "code", 1 << 20)
    assert other.get("alice", b"one") == CODE
    assert other.get("bob", b"one") is None
    assert other.get("alice", b"two") is None


def test_neither_tenants_nor_keys_can_be_read_off_the_names(tmp_path, files):
    files.put("alice", b"one", CODE)
    (path,) = files_of(tmp_path / "code")
    assert "alice" not in str(path.relative_to(tmp_path))
    CodeFiles(tmp_path / "other", 1 << 20).put("alice", b"one", CODE)
    (other,) = files_of(tmp_path / "other")
    assert path.name != other.name
    assert path.parent.name != other.parent.name


@given(place=st.integers(0, 32 + len(CODE) - 1), bit=st.integers(0, 7))
def test_a_damaged_file_is_deleted(tmp_path_factory, place, bit):
    folder = tmp_path_factory.mktemp("code")
    files = CodeFiles(folder, 1 << 20)
    files.put("alice", b"one", CODE)
    (path,) = files_of(folder)
    whole = bytearray(path.read_bytes())
    whole[place] ^= 1 << bit
    path.write_bytes(whole)
    assert files.get("alice", b"one") is None
    assert not path.exists()


def shortened(path: Path, _other: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def emptied(path: Path, _other: Path) -> None:
    path.write_bytes(b"")


def another(path: Path, other: Path) -> None:
    path.write_bytes(other.read_bytes())


def huge(path: Path, _other: Path) -> None:
    os.truncate(path, 1 << 30)


@pytest.mark.parametrize("change", [shortened, emptied, another, huge], ids=lambda f: f.__name__)
def test_a_foreign_file_is_deleted(tmp_path, files, caplog, change):
    files.put("alice", b"one", CODE)
    (path,) = files_of(tmp_path / "code")
    files.put("alice", b"two", CODE[::-1])
    other = next(each for each in files_of(tmp_path / "code") if each != path)
    change(path, other)
    assert files.get("alice", b"one") is None
    assert files.get("alice", b"two") == CODE[::-1]
    assert not path.exists()
    assert "damaged or foreign" in caplog.text


def test_files_of_another_key_are_deleted(tmp_path):
    one, other = (CodeFiles(tmp_path, 1 << 20, secret) for secret in ("a" * 16, "b" * 16))
    one.put("alice", b"one", CODE)
    assert CodeFiles(tmp_path, 1 << 20, "a" * 16).get("alice", b"one") == CODE
    assert other.get("alice", b"one") is None
    assert not (tmp_path / "key").exists()


def test_the_key_is_made_once_and_for_its_owner_alone(tmp_path):
    for attempt in range(50):  # all begin at the same time
        folder = tmp_path / f"code{attempt}"
        begin = Barrier(8)

        def opened(_, folder=folder, begin=begin):
            begin.wait()
            return CodeFiles(folder, 1 << 20)

        with ThreadPoolExecutor(8) as pool:
            made = [*pool.map(opened, range(8))]
        made[0].put("alice", b"one", CODE)
        assert all(each.get("alice", b"one") == CODE for each in made)
    folder.rename(tmp_path / "code")
    (key,) = [path for path in (tmp_path / "code").iterdir() if path.is_file()]
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    key.write_bytes(b"short")
    assert CodeFiles(tmp_path / "code", 1 << 20).get("alice", b"one") is None


def test_what_was_used_least_recently_is_deleted(tmp_path):
    files = CodeFiles(tmp_path, 40_000)
    for number in range(100):
        files.put("alice", b"%d" % number, CODE)
        for path in files_of(tmp_path):  # each a second older than the next
            used = path.stat().st_mtime - 1
            os.utime(path, (used, used))
        assert files.get("alice", b"0") == CODE
        assert sum(path.stat().st_size for path in files_of(tmp_path)) <= 40_000 + 40_000 // 16
    kept = [number for number in range(100) if files.get("alice", b"%d" % number)]
    assert len(kept) >= 10
    assert kept == [0, *range(101 - len(kept), 100)]


def test_nobody_loses_files_to_one_who_has_more(tmp_path):
    files = CodeFiles(tmp_path, 40_000)
    files.put("bob", b"his", CODE)
    for number in range(100):
        files.put("alice", b"%d" % number, CODE)
    assert files.get("bob", b"his") == CODE


def test_what_is_larger_than_the_folder_may_be_is_not_written(tmp_path):
    files = CodeFiles(tmp_path, 1000)
    files.put("alice", b"one", CODE)
    assert not files_of(tmp_path)


def test_what_was_left_behind_by_writing_is_deleted(tmp_path):
    files = CodeFiles(tmp_path, 40_000)
    files.put("alice", b"one", CODE)
    (path,) = files_of(tmp_path)
    old, new = path.with_name("a.new"), path.with_name("b.new")
    old.write_bytes(CODE)
    new.write_bytes(CODE)
    os.utime(old, (1, 1))
    os.utime(new, (1 << 33, 1 << 33))  # however slow this machine is
    for number in range(9):
        files.put("alice", b"%d" % number, CODE)
    assert not old.exists()
    assert new.exists()


def unwritable(folder: Path) -> None:
    """Root may write everywhere, but not into a file."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.write_bytes(b"")


def without_room(folder: Path) -> None:
    folder.mkdir()
    (folder / "key").write_bytes(bytes(32))


@pytest.mark.parametrize("prepare", [unwritable, without_room], ids=lambda f: f.__name__)
def test_a_folder_that_cannot_be_used_is_logged_once(tmp_path, caplog, prepare):
    prepare(tmp_path / "code")
    with caplog.at_level(logging.WARNING, "gradwire"):
        files = CodeFiles(tmp_path / "code", 1 << 20)
        if prepare is without_room:
            import resource

            limits = resource.getrlimit(resource.RLIMIT_FSIZE)
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
        try:
            for number in range(5):
                files.put("alice", b"%d" % number, CODE)
        finally:
            if prepare is without_room:
                resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert all(files.get("alice", b"%d" % number) is None for number in range(5))
    assert len(caplog.records) == 1
    assert "cannot be kept" in caplog.text
    assert not files_of(tmp_path / "code")


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o775, 0o1777])
def test_without_a_key_of_its_own_a_folder_is_this_users_alone(tmp_path, caplog, mode):
    """Whoever may write there could put a key beside code that this service then executes."""
    (tmp_path / "code").mkdir()
    (tmp_path / "code").chmod(mode)
    for _ in range(2):
        files = CodeFiles(tmp_path / "code", 1 << 20)
        files.put("alice", b"one", CODE)
        assert files.get("alice", b"one") is None
    assert not [*(tmp_path / "code").iterdir()]
    assert "other users can write there" in caplog.text
    keyed = CodeFiles(tmp_path / "code", 1 << 20, "a key that only replicas have")
    keyed.put("alice", b"one", CODE)
    assert keyed.get("alice", b"one") == CODE

"""Key files: reloaded without a restart; broken ones change nothing."""

import logging
import secrets
import time

import pytest
from gradwire_service.access import keys_file
from gradwire_service.access.entries import KeysError, write_entries
from gradwire_service.access.keyring import Keyring
from gradwire_service.access.keys_file import KeysFile, KeysFileWatcher
from gradwire_service.access.tokens import read_token

MARKER = "MARKER-c0ffee"


@pytest.fixture
def followed(issue, tmp_path):
    """A file with one key, the key, its watcher, and a check of keys."""
    token, entry = issue()
    path = tmp_path / "keys.json"
    path.write_text(write_entries([entry]))
    file = KeysFile(str(path))
    keyring = Keyring(file.read())
    following = KeysFileWatcher(file, keyring)

    def good(token=token):
        presented = read_token(token.encode())
        return presented is not None and keyring.identify(presented) is not None

    return path, entry, following, good


def in_place(path, text):
    path.write_text(text)


def by_replacement(path, text):
    new = path.with_suffix(".new")
    new.write_text(text)
    new.replace(path)


def by_a_link_elsewhere(path, text):
    """As in Kubernetes volumes: the file is a link through a directory that is replaced."""
    folder = path.parent / secrets.token_hex(8)
    folder.mkdir()
    (folder / path.name).write_text(text)
    link = path.with_suffix(".link")
    link.symlink_to(folder / path.name)
    link.replace(path)


@pytest.mark.parametrize("written", [in_place, by_replacement, by_a_link_elsewhere])
def test_adding_and_revoking_keys_needs_no_restart(followed, issue, written):
    path, entry, following, good = followed
    other, another = issue(tenant="umbrella")
    written(path, write_entries([entry, another]))
    following.reload_if_changed()
    assert good()
    assert good(other)
    written(path, write_entries([another]))
    following.reload_if_changed()
    assert not good()
    assert good(other)
    written(path, "[]")
    following.reload_if_changed()
    assert not good(other)


@pytest.mark.parametrize("broken", [f'[{{"name": "{MARKER}"}}]', MARKER, "", None])
def test_an_invalid_file_changes_nothing_and_is_logged_once(followed, caplog, broken):
    path, _, following, good = followed
    if broken is None:
        path.unlink()
    else:
        path.write_text(broken)
    for _ in range(3):
        following.reload_if_changed()
    assert good()
    assert following._keyring.stale
    (told,) = caplog.records
    assert told.levelno == logging.ERROR
    assert str(path) in told.getMessage()
    assert MARKER not in caplog.text
    path.write_text("[]")
    following.reload_if_changed()
    assert not good()
    assert not following._keyring.stale


def test_an_unchanged_file_is_not_read_again(followed, monkeypatch):
    _, _, following, good = followed
    monkeypatch.setattr(KeysFile, "read", lambda _: pytest.fail("it was read"))
    for _ in range(3):
        following.reload_if_changed()
    assert good()


def test_a_thread_watches_the_file_within_the_context(followed, monkeypatch):
    monkeypatch.setattr(keys_file, "POLL_SECONDS", 0.05)
    path, _, following, good = followed
    with following:
        by_replacement(path, "[]")
        while good():
            time.sleep(0.02)
    assert following._thread is not None
    assert not following._thread.is_alive()


def test_it_does_not_start_with_an_unreadable_file(tmp_path):
    with pytest.raises(KeysError, match="cannot be read: No such file"):
        KeysFile(str(tmp_path / "none.json")).read()
    with pytest.raises(KeysError, match="cannot be read: Is a directory"):
        KeysFile(str(tmp_path)).read()


def test_it_goes_on_watching_after_any_error(followed, monkeypatch, caplog):
    path, _, following, good = followed
    by_replacement(path, "[]")
    with monkeypatch.context() as patched:
        patched.setattr(KeysFile, "read", lambda _: 1 / 0)
        following.reload_if_changed()
    assert good()
    assert [told.levelno for told in caplog.records] == [logging.ERROR]
    by_replacement(path, "[]\n")
    following.reload_if_changed()
    assert not good()

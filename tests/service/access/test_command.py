"""The command for keys: a key is shown once, its digest is stored, errors quote no content."""

import json
import os
import stat
from datetime import UTC, datetime
from hashlib import sha256

import pytest
from gradwire_service.__main__ import main
from gradwire_service.access.entries import read_entries, write_entries

NEW = ["keys", "new", "--tenant", "acme", "--name", "ci"]
MARKER = "MARKER-c0ffee"


def refused(capsys, *arguments):
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    return capsys.readouterr().err


def test_a_new_key_and_its_entry_are_printed(capsys):
    main([*NEW, "--scopes", "compute,write", "--concurrent", "3"])
    token, line = capsys.readouterr().out.splitlines()
    entry = json.loads(line)
    assert entry["sha256"] == sha256(token.encode()).hexdigest()
    assert token.startswith(f"gw_{entry['id']}_")
    assert (entry["scopes"], entry["concurrent"]) == (["compute", "write"], 3)
    assert token.split("_")[2] not in line


def test_entries_are_appended_to_a_file_which_never_contains_keys(capsys, tmp_path):
    file = tmp_path / "keys.json"
    for tenant in "acme", "umbrella":
        main(["keys", "new", "--tenant", tenant, "--name", "ci", "--file", str(file)])
    tokens = capsys.readouterr().out.split()
    entries = read_entries(file.read_bytes(), "file")
    assert [entry.tenant for entry in entries] == ["acme", "umbrella"]
    assert [entry.sha256 for entry in entries] == [
        sha256(token.encode()).hexdigest() for token in tokens
    ]
    assert not any(token.split("_")[2] in file.read_text() for token in tokens)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [file]


def test_a_file_keeps_its_mode(capsys, tmp_path):
    file = tmp_path / "keys.json"
    file.write_text("[]")
    file.chmod(0o640)
    main([*NEW, "--file", str(file)])
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_file_keeps_its_owner(tmp_path):
    file = tmp_path / "keys.json"
    file.write_text("[]")
    os.chown(file, 10001, 10001)
    main([*NEW, "--file", str(file)])
    assert (file.stat().st_uid, file.stat().st_gid) == (10001, 10001)


def test_revoking_removes_the_entry(capsys, tmp_path, monkeypatch):
    file = tmp_path / "keys.json"
    monkeypatch.setenv("GRADWIRE_KEYS_FILE", str(file))
    for name in "first", "second", "third":
        main(["keys", "new", "--tenant", "acme", "--name", name, "--file", str(file)])
    token, *_ = capsys.readouterr().out.split()
    first, second, third = read_entries(file.read_bytes(), "file")
    main(["keys", "revoke", first.id, third.id])
    assert read_entries(file.read_bytes(), "file") == [second]
    told = refused(capsys, "keys", "revoke", second.id, token)
    assert "unknown id" in told
    assert token not in told
    assert read_entries(file.read_bytes(), "file") == [second]


def test_keys_are_listed_without_their_digests(capsys, tmp_path, monkeypatch):
    file = tmp_path / "keys.json"
    main([*NEW, "--file", str(file)])
    other = ["--tenant", "umbrella", "--name", "app", "--days", "9", "--concurrent", "3"]
    other += ["--requests-per-second", "2.5"]
    main(["keys", "new", *other, "--file", str(file)])
    capsys.readouterr()
    monkeypatch.setenv("GRADWIRE_KEYS_FILE", str(file))
    main(["keys", "list"])
    head, first, second = capsys.readouterr().out.splitlines()
    entries = read_entries(file.read_bytes(), "file")
    expires_at = entries[1].expires_at
    assert expires_at is not None
    assert head.split() == "ID TENANT NAME SCOPES PER SECOND AT ONCE EXPIRES".split()
    assert first.split() == [entries[0].id, "acme", "ci", "compute", "-", "-", "never"]
    assert second.split() == [
        entries[1].id,
        "umbrella",
        "app",
        "compute",
        "2.5",
        "3",
        expires_at.isoformat(),
    ]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([*NEW, "--scopes", "compute,all"], "scopes must be of compute, write, admin"),
        ([*NEW[:-1], "c i"], "name: String should match"),
        ([*NEW, "--burst", "-1"], "burst"),
        ([*NEW, "--file", "/nowhere/keys.json"], "/nowhere/keys.json: cannot be written"),
        (["keys", "list", "--file", "/nowhere/keys.json"], "cannot be read"),
        ([*NEW, "--days", "-3"], "days must be a number above 0"),
        ([*NEW, "--days", "1e9"], "days must be a number above 0"),
        (["keys", "revoke", "0" * 16, "--file", "/nowhere/keys.json"], "cannot be read"),
        (["keys"], "required: action"),
    ],
)
def test_errors_are_printed(capsys, arguments, complaint):
    assert complaint in refused(capsys, *arguments)


def test_an_expired_key_is_listed_as_expired(capsys, tmp_path):
    file = tmp_path / "keys.json"
    main([*NEW, "--days", "1", "--file", str(file)])
    main(["keys", "list", "--file", str(file)])
    assert "(expired)" not in capsys.readouterr().out
    (entry,) = read_entries(file.read_bytes(), "file")
    past = {"expires_at": datetime(2020, 1, 1, tzinfo=UTC)}
    file.write_text(write_entries([entry.model_copy(update=past)]))
    main(["keys", "list", "--file", str(file)])
    assert "2020-01-01T00:00:00+00:00 (expired)" in capsys.readouterr().out


def test_the_key_file_must_be_given(capsys, monkeypatch):
    monkeypatch.delenv("GRADWIRE_KEYS_FILE", raising=False)
    assert "--file" in refused(capsys, "keys", "list")


def test_an_invalid_file_is_left_unchanged(capsys, tmp_path):
    file = tmp_path / "keys.json"
    file.write_text(f'[{{"{MARKER}": 1}}')
    assert MARKER not in refused(capsys, *NEW, "--file", str(file))
    assert MARKER in file.read_text()


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--host", "0.0.0.0"], "GRADWIRE_OPEN=true"),
        (["--keys", f'[{{"id": "{MARKER}"}}]'], "GRADWIRE_KEYS: [0].id"),
        (
            ["--keys-file", "/nowhere/keys.json"],
            "GRADWIRE_KEYS_FILE=/nowhere/keys.json: cannot be read: No such file",
        ),
        (
            ["--keys-file", "keys.json", "--keys", "[]"],
            "GRADWIRE_KEYS exclude each other",
        ),
        (
            ["--key-requests-per-second", "-1"],
            "--key-requests-per-second=-1: Input",
        ),
    ],
)
def test_the_service_does_not_start_with_an_invalid_key_file(capsys, options, complaint):
    told = refused(capsys, "serve", "--processes", "0", *options)
    assert complaint in told
    assert MARKER not in told

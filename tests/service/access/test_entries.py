"""Key files: read back as written, errors with the place and without the content."""

import json
from datetime import UTC, datetime

import pytest
from gradwire_service.access.entries import KeyEntry, KeysError, read_entries, write_entries
from hypothesis import given
from hypothesis import strategies as st

MARKER = "MARKER-c0ffee"
GOOD = {
    "id": "0123456789abcdef",
    "name": "ci",
    "tenant": "acme",
    "sha256": "ab" * 32,
    "scopes": ["compute"],
}
HEX = "0123456789abcdef"
NAMES = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", fullmatch=True)
ENTRIES = st.builds(
    KeyEntry,
    id=st.text(HEX, min_size=16, max_size=16),
    name=NAMES,
    tenant=NAMES,
    sha256=st.text(HEX, min_size=64, max_size=64),
    scopes=st.sets(st.sampled_from(["compute", "write", "admin"]), min_size=1),
    requests_per_second=st.none() | st.floats(0, 1e6),
    burst=st.none() | st.integers(0, 10**6),
    concurrent=st.none() | st.integers(0, 10**6),
    expires_at=st.none() | st.integers(0, 1 << 33).map(lambda s: datetime.fromtimestamp(s, UTC)),
)


@given(st.lists(ENTRIES, max_size=4, unique_by=lambda entry: entry.id))
def test_entries_read_back_as_written(entries):
    assert read_entries(write_entries(entries), "here") == entries


def changed(**fields):
    return json.dumps([GOOD, GOOD | {"id": "f" * 16} | fields])


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (MARKER, "here: not JSON: Expecting value at line 1, column 1"),
        (b"\xff\xfe", "here: not JSON"),
        (b'["\xff"]', "here: not JSON: not UTF-8"),
        ("[" * 100_000, "here: not a list of keys"),
        (json.dumps(GOOD), "here: Input should be a valid list"),
        (json.dumps([MARKER]), "here: [0]: Input should be"),
        (changed(tenant=f"{MARKER} x"), "here: [1].tenant: String should match"),
        (changed(sha256=MARKER), "here: [1].sha256: String should match"),
        (changed(scopes=[]), "here: [1].scopes: "),
        (changed(scopes=["compute", MARKER]), "here: [1].scopes.1: Input should be 'compute'"),
        (changed(secret=MARKER), "here: [1].secret: Extra inputs are not permitted"),
        (changed(burst=-1), "here: [1].burst: "),
        (changed(requests_per_second=float("inf")), "here: [1].requests_per_second: "),
        (changed(expires_at="2030-01-01T00:00:00"), "here: [1].expires_at: "),
        (changed(id=GOOD["id"]), "here: [1]: duplicate id of [0]"),
        (json.dumps([GOOD])[:-2] + f', "name": "{MARKER}"}}]', "here: duplicate field"),
        (" " * (16 << 20) + "[]", "here: key file has more than 16777216 bytes"),
    ],
)
def test_errors_name_the_place_but_not_the_content(text, complaint):
    with pytest.raises(KeysError) as raised:
        read_entries(text, "here")
    assert str(raised.value).startswith(complaint)
    assert MARKER not in str(raised.value)
    assert len(str(raised.value)) < 600

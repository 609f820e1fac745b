import base64
import json
import webbrowser
import zlib

import numpy as np
import pytest
from gradwire_command.page import fragment
from hypothesis import given
from hypothesis import strategies as st


def read(fragment: str):
    """The document in a fragment, as the page reads it."""
    version, _, packed = fragment.partition("=")
    assert version == "v1"
    assert not packed.rstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
    content = base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4))
    return json.loads(zlib.decompress(content, wbits=-15).decode())


TEXT = st.text(st.characters(codec="utf-8"))


@given(
    st.fixed_dictionaries(
        {"program": TEXT, "variables": st.dictionaries(TEXT, st.lists(st.integers()))}
    )
)
def test_fragments_are_read_as_they_were_written(shown):
    assert read(fragment(shown)) == shown


def test_the_address_contains_program_values_and_query(run, service_url, tmp_path):
    np.save(tmp_path / "y.npy", np.array([[1, 2]], np.int8))
    words = ["open", "sum(x * y) + é", "x=[1,NaN]", "y=@y.npy", "é=1", "--sources", "x,é"]
    address = run(*words, "--query", "gradient", "--print").stdout.strip()
    page, _, told = address.partition("/#")
    assert page == service_url
    assert read(told) == {
        "program": "sum(x * y) + é",
        "variables": {
            "x": [1.0, "NaN"],
            "y": {"value": [[1, 2]], "dtype": "int8"},
            "é": 1.0,
        },
        "sources": ["x", "é"],
        "query": "gradient",
    }


@pytest.mark.parametrize(("opens", "prints"), [(True, False), (False, True)])
def test_the_page_is_opened_or_its_address_printed(run, monkeypatch, opens, prints):
    opened: list[str] = []

    def browse(address: str) -> bool:
        opened.append(address)
        return opens

    monkeypatch.setattr(webbrowser, "open", browse)
    shown = run("open", "x**2", "x=3").stdout
    assert read(opened[0].partition("#")[2]) == {"program": "x**2", "variables": {"x": 3.0}}
    assert shown == (f"{opened[0]}\n" if prints else "")


@pytest.mark.thorough
def test_what_no_page_can_show_is_told(run, tmp_path):
    assert "has no page" in run("open", "x", "--url", "local", exits=2).stderr
    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=100_000))
    told = run("open", "x", "x=@x.npy", exits=4).stderr
    assert "too large for an address" in told
    assert "this one is a graph" in run("open", '{"nodes": [], "outputs": "x"}', exits=3).stderr

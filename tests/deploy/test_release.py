"""The release: where its links lead, what it depends on, what the image is made of."""

import re
import runpy
import tomllib
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).parents[2]
RELEASE = runpy.run_path(str(ROOT / "tools/release.py"))
ADDRESS = "https://code.example/us/gradwire"
IMAGE = ROOT / "deploy/image"
PYTHONS = ["3.11", "3.12", "3.13", "3.14"]


def load(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text())


@pytest.mark.parametrize("folder", RELEASE["DISTRIBUTIONS"])
def test_links_of_a_package_page_lead_to_files_of_the_tag(folder: str):
    readme = (ROOT / folder / "README.md").read_text()
    page = RELEASE["absolute"](readme, folder, ADDRESS, "v1")
    assert page.count("](") == readme.count("](")
    links = re.findall(r"\]\(([^)\s]*)\)", page)
    here = [link for link in links if link.startswith(ADDRESS)]
    assert len(here) > 3
    assert all(re.match(r"https?:|#", link) for link in links)
    for link in here:
        kind, path = re.fullmatch(rf"{ADDRESS}/(blob|tree|raw)/v1/([^#]*)(?:#.*)?", link).groups()  # type: ignore[union-attr]
        assert (ROOT / path).is_dir() == (kind == "tree")
        assert (ROOT / path).exists()


@pytest.mark.parametrize("folder", RELEASE["DISTRIBUTIONS"])
def test_distributions_say_where_they_come_from(folder: str):
    before = (ROOT / folder / "pyproject.toml").read_text()
    after = tomllib.loads(RELEASE["with_urls"](before, ADDRESS))
    urls = after["project"].pop("urls")
    assert after == tomllib.loads(before)
    assert urls["Repository"] == ADDRESS
    assert all(url.startswith(ADDRESS) for url in urls.values())


def test_the_client_brings_a_service_of_its_version():
    client = load(ROOT / "clients/python/pyproject.toml")["project"]
    (local,) = client["optional-dependencies"]["local"]
    server = load(ROOT / "pyproject.toml")["project"]
    brought = Requirement(local)
    assert brought.name == server["name"]
    version = Version(server["version"])
    assert brought.specifier.contains(version)
    following = f"{version.major}.{version.minor + 1}" if version.major == 0 else version.major + 1
    assert not brought.specifier.contains(f"{following}.0")


def locked(name: str) -> list[Requirement]:
    text = (IMAGE / name).read_text().replace("\\\n", "")
    requirements = []
    for line in text.splitlines():
        words, *hashes = line.split("--hash=")
        assert hashes
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}\s*", one) for one in hashes)
        requirements.append(Requirement(words))
    return requirements


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("requirements.txt", ("project", "dependencies")),
        ("build.txt", ("build-system", "requires")),
        ("docs.txt", ("project", "optional-dependencies", "docs")),
    ],
)
def test_the_image_is_made_of_pinned_packages(name: str, keys: tuple[str, ...], python: str):
    """Every dependency has, for each Python, one version that satisfies it: else `make lock`."""
    environment = {
        "python_version": python,
        "python_full_version": f"{python}.1",
        "sys_platform": "linux",
        "implementation_name": "cpython",
    }

    def applies(one: Requirement) -> bool:
        return one.marker is None or one.marker.evaluate(environment)

    pinned = {}
    for one in filter(applies, locked(name)):
        (specifier,) = one.specifier
        assert specifier.operator == "=="
        assert one.name not in pinned
        pinned[one.name] = specifier.version
    for text in reduce(getitem, keys, load(ROOT / "pyproject.toml")):
        needed = Requirement(text)
        if applies(needed):
            plain = needed.name.replace(".", "-")
            assert needed.specifier.contains(pinned[plain]), text


def test_locks_name_no_host():
    for path in [*IMAGE.iterdir(), *(ROOT / "tests/generators").glob("*.*")]:
        text = path.read_text()
        assert "--index-url" not in text
        assert "--find-links" not in text
        assert '"resolved"' not in text
        assert "://" not in text or path.name == "package-lock.json"

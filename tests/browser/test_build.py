"""The page in the package is what its source gives, and small."""

import gzip
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "clients/page"
BUILT = ROOT / "service/gradwire_service/page"

MOST_COMPRESSED_BYTES = 350_000


def test_the_page_in_the_package_is_what_its_source_gives(tmp_path):
    if not (SOURCE / "node_modules/.made").exists():
        pytest.skip("the page's tools are not installed: make page")
    subprocess.run(["node", "build.mjs", "--into", tmp_path], cwd=SOURCE, check=True)
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {path.name for path in BUILT.iterdir()}
    for name in names:
        assert (BUILT / name).read_bytes() == (tmp_path / name).read_bytes(), f"{name}: make page"


@pytest.mark.parametrize("script", ["check", "test"])
def test_its_types_and_its_own_tests(script):
    if not (SOURCE / "node_modules/.made").exists():
        pytest.skip("the page's tools are not installed: make page")
    command = ["npm", "run", "--silent", script]
    done = subprocess.run(command, cwd=SOURCE, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_it_is_small():
    sizes = [len(gzip.compress(path.read_bytes())) for path in BUILT.iterdir()]
    assert sum(sizes) <= MOST_COMPRESSED_BYTES

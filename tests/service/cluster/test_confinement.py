"""Paths that requests name, and those that lead out."""

import pytest
from gradwire_service.access.keyring import owner_of
from gradwire_service.cluster.confinement import check_tenant, confined, relative_path
from gradwire_service.problems import RequestError
from gradwire_service.settings import Settings
from pydantic import ValidationError


@pytest.mark.parametrize("name", ["x.zarr", "train/x.zarr", "a b/ü.parquet", "year=2024/x", "..x"])
def test_paths_below_the_root(name):
    assert relative_path(name, "/data", "/p") == name
    assert relative_path(f"/data/{name}", "/data/", "/p") == name
    assert relative_path(f"s3://bucket/data/{name}", "s3://bucket/data", "/p") == name


@pytest.mark.parametrize(
    "name",
    [
        "../x", "a/../../x", "a/..", ".", "./x", "", "a//b", "/etc/passwd", "/data2/x", "s3://b/x",
        "file:///etc/passwd", "memory::x", "simplecache::s3://b/x", "a\\..\\b", "x?versionId=1",
        "x#y", "%2e%2e/x", "a\0b", "a\nb", "*.parquet", "x[0]", "{a,b}",
    ],
)  # fmt: skip
def test_paths_that_could_lead_out(name):
    with pytest.raises(RequestError) as caught:
        relative_path(name, "/data", "/variables/X/zarr")
    assert caught.value.code == "invalid_request"
    assert caught.value.pointer == "/variables/X/zarr"


@pytest.fixture
def root(tmp_path):
    root = tmp_path / "root"
    (root / "acme" / "x.zarr").mkdir(parents=True)
    (root / "other").mkdir()
    (tmp_path / "secret").write_text("secret")
    return root


def test_what_is_there(root):
    assert confined(str(root), "acme/x.zarr", "/p") == str(root / "acme" / "x.zarr")
    (root / "acme" / "link").symlink_to(root / "acme" / "x.zarr")
    found = confined(str(root), "acme/link", "/p", within="acme")
    assert found == str(root / "acme" / "x.zarr")


def test_a_root_may_be_a_link_itself(root, tmp_path):
    (tmp_path / "link").symlink_to(root)
    assert confined(str(tmp_path / "link"), "acme/x.zarr", "/p") == str(root / "acme" / "x.zarr")


@pytest.mark.parametrize("target", ["../../secret", "/", "../.."])
def test_links_that_lead_out(root, target):
    (root / "acme" / "link").symlink_to(target)
    with pytest.raises(RequestError, match="symbolic link"):
        confined(str(root), "acme/link", "/p")


@pytest.mark.parametrize("target", ["../../../secret", "../../other"])
def test_links_within_an_array_that_lead_out(root, target):
    (root / "acme" / "x.zarr" / "chunk").symlink_to(target)
    with pytest.raises(RequestError, match="symbolic link"):
        confined(str(root), "acme/x.zarr", "/p", within="acme")


def test_a_tenants_folder_that_is_another_ones(root):
    (root / "third").symlink_to("acme")
    with pytest.raises(RequestError, match="symbolic link"):
        confined(str(root), "third/x.zarr", "/p", within="third")


def test_what_is_not_there(root):
    with pytest.raises(RequestError, match="no file or folder acme/y"):
        confined(str(root), "acme/y", "/p")


@pytest.mark.parametrize("root", ["", "/data", "s3://bucket/data", "https://host/data"])
def test_roots(root):
    assert Settings(data_root=root).data_root == root


@pytest.mark.parametrize("root", ["data", "./data", "file:///data", "local:///data", "s3:data"])
def test_roots_that_are_no_folder_of_all_workers(root):
    with pytest.raises(ValidationError, match="absolute path"):
        Settings(data_root=root)


@pytest.mark.parametrize("address", ["host:8786", "http://host:8786", "tcp://host", "tcp://:8786"])
def test_addresses_of_no_scheduler(address):
    for known in ("tcp://host:8786", "tls://10.0.0.1:8786", "tcp://[::1]:8786"):
        assert Settings(dask=known).dask == known
    with pytest.raises(ValidationError, match="address of a scheduler"):
        Settings(dask=address)


def test_urls_are_joined():
    assert confined("s3://bucket/data/", "a/x", "/p") == "s3://bucket/data/a/x"


def test_names_begin_with_the_tenant():
    check_tenant("acme/x", owner_of("acme"), "/p")
    for name in ("acme", "other/x", "acme2/x", "x/acme", "/acme/x", ""):
        with pytest.raises(RequestError) as caught:
            check_tenant(name, owner_of("acme"), "/p")
        assert caught.value.code == "forbidden"

import importlib
import importlib.metadata

from gradwire import version


def test_a_checkout_can_be_imported_without_installing(monkeypatch):
    def absent(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    before = version.__version__
    with monkeypatch.context() as patched:
        patched.setattr(importlib.metadata, "version", absent)
        importlib.reload(version)
        assert version.__version__ == "0+uninstalled"
    importlib.reload(version)
    assert version.__version__ == before

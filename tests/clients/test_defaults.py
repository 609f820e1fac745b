import subprocess
import sys

import gradwire
import pytest
from gradwire.defaults import default_client


def test_the_default_client_is_configured_by_the_environment(monkeypatch):
    monkeypatch.setenv("GRADWIRE_URL", "http://one.example")
    one = default_client()
    monkeypatch.setenv("GRADWIRE_API_KEY", "secret")
    two = default_client()
    monkeypatch.delenv("GRADWIRE_API_KEY")
    assert isinstance(one, gradwire.Client)
    assert default_client() is one
    assert two is not one
    monkeypatch.setenv("GRADWIRE_PLACEMENT", "gpu")
    assert default_client()._options.placement == "gpu"


@pytest.mark.thorough
def test_the_default_client_is_closed_at_exit(service_url, monkeypatch):
    monkeypatch.setenv("GRADWIRE_URL", service_url)
    program = "import gradwire; print(gradwire.grad(lambda x: x**2)(3.0))"
    ran = subprocess.run(
        [sys.executable, "-X", "dev", "-c", program], capture_output=True, text=True, check=True
    )
    assert ran.stdout == "6.0\n"
    assert "ResourceWarning" not in ran.stderr

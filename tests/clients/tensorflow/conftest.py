"""``gradwire.tf`` with the real service behind its default client, and the calls it sent."""

from typing import Any

import gradwire
import pytest


@pytest.fixture(autouse=True)
def service(service_url, monkeypatch) -> None:
    """Make the default client use the service on the loopback."""
    monkeypatch.setenv("GRADWIRE_URL", service_url)


@pytest.fixture
def sent(service, monkeypatch) -> list[Any]:
    """The calls that were sent, in order."""
    calls: list[Any] = []
    send = gradwire.Client.send

    def listened(client, call):
        calls.append(call)
        return send(client, call)

    monkeypatch.setattr(gradwire.Client, "send", listened)
    return calls

"""``gradwire.tf`` with the real service behind its default client, and what was sent to it."""

from typing import Any

import gradwire
import pytest


@pytest.fixture(autouse=True)
def service(service_url, monkeypatch) -> None:
    """The default client's service is the one on the loopback."""
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

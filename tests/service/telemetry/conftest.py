"""Logs have time to be written, however slow the machine is."""

import pytest
from gradwire_service.telemetry import log


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    monkeypatch.setattr(log, "_CLOSE_SECONDS", 3600)

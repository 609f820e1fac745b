"""The command, run against the real service."""

from __future__ import annotations

import json
from typing import Any, Protocol

import pytest
from click.testing import CliRunner, Result
from gradwire_command.application import application


class Run(Protocol):
    """Runs a command line in an empty folder; asserts its exit code."""

    def __call__(self, *words: str, exits: int = 0, given: str | bytes | None = None) -> Result: ...


@pytest.fixture
def run(service_url, monkeypatch, tmp_path) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GRADWIRE_URL", service_url)

    def run(*words: str, exits: int = 0, given: str | bytes | None = None) -> Result:
        result = CliRunner(catch_exceptions=False).invoke(application, words, input=given)
        assert result.exit_code == exits, result.output
        return result

    return run


@pytest.fixture
def answer(run):
    """Runs a command line with ``--json``; the document that it prints."""

    def answer(*words: str, **options: Any) -> Any:
        return json.loads(run(*words, "--json", **options).stdout)

    return answer

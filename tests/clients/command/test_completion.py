import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Callable

import pytest
from click.testing import CliRunner
from gradwire_command.application import application


def suggested(words: str, url: str) -> list[str]:
    """What Bash suggests for the last word."""
    position = str(len(words.split(" ")) - 1)
    asked = {"_GRADWIRE_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": position}
    result = CliRunner().invoke(application, [], env={**asked, "GRADWIRE_URL": url})
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return [line.partition(",")[2] for line in result.stdout.splitlines() if line]


def in_time(ask: Callable[[], list[str]]) -> list[str]:
    """What is suggested once the service answers within the second that a shell waits."""
    for _ in range(20):  # on a busy machine it may take longer
        if found := ask():
            return found
    return []


def test_commands_and_options_are_suggested(service_url):
    assert suggested("gradwire gr", service_url) == ["grad"]
    assert suggested("gradwire tensors ", service_url) == ["delete", "get", "put"]
    assert suggested("gradwire grad --so", service_url) == ["--sources"]
    assert suggested("gradwire jacobian --mode f", service_url) == ["forward"]


def test_names_that_the_service_knows_are_suggested(service_url, client):
    operations = in_time(lambda: suggested("gradwire ops tanh", service_url))
    assert operations == ["tanh", "tanhm"]
    client.programs.register("x - 4", name="suggested.four")
    try:
        for words in ("programs get", "programs delete", "grad --stored"):
            begun = f"gradwire {words} suggested."
            found = in_time(functools.partial(suggested, begun, service_url))
            assert found == ["suggested.four"]
    finally:
        client.programs.delete("suggested.four")


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "local", "ftp://nothing"])
def test_without_a_service_nothing_is_suggested(url):
    assert suggested("gradwire ops tanh", url) == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_has_a_script(run, shell):
    assert "_GRADWIRE_COMPLETE" in run("completion", shell).stdout


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("bash") is None, reason="needs Bash")
def test_bash_completes_the_command(run, service_url, tmp_path):
    script = tmp_path / "gradwire"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m gradwire_command "$@"\n')
    script.chmod(0o755)
    asked = run("completion", "bash").stdout + (
        "COMP_WORDS=(gradwire ops arctan); COMP_CWORD=2\n"
        "_gradwire_completion gradwire; echo ${COMPREPLY[@]}\n"
    )
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "GRADWIRE_URL": service_url}

    def completed() -> list[str]:
        bash = ["bash", "-c", asked]
        return subprocess.check_output(bash, env=environment, text=True).split()

    assert in_time(completed) == ["arctan", "arctan2", "arctanh"]

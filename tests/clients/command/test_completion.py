import os
import shutil
import subprocess
import sys

import pytest
from click.testing import CliRunner
from gradwire.command.application import application


def suggested(words: str, url: str) -> list[str]:
    """What Bash suggests for the last word."""
    position = str(len(words.split(" ")) - 1)
    asked = {"_GRADWIRE_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": position}
    result = CliRunner().invoke(application, [], env={**asked, "GRADWIRE_URL": url})
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return [line.partition(",")[2] for line in result.stdout.splitlines() if line]


def test_commands_and_options_are_suggested(service_url):
    assert suggested("gradwire gr", service_url) == ["grad"]
    assert suggested("gradwire tensors ", service_url) == ["delete", "get", "put"]
    assert suggested("gradwire grad --so", service_url) == ["--sources"]
    assert suggested("gradwire jacobian --mode f", service_url) == ["forward"]


def test_names_that_the_service_knows_are_suggested(service_url, client):
    assert suggested("gradwire ops tanh", service_url) == ["tanh", "tanhm"]
    client.programs.register("x - 4", name="suggested.four")
    try:
        for words in ("programs get", "programs delete", "grad --stored"):
            assert suggested(f"gradwire {words} suggested.", service_url) == ["suggested.four"]
    finally:
        client.programs.delete("suggested.four")


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "local", "ftp://nothing"])
def test_without_a_service_nothing_is_suggested(url):
    assert suggested("gradwire ops tanh", url) == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_has_a_script(run, shell):
    assert "_GRADWIRE_COMPLETE" in run("completion", shell).stdout


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs Bash")
def test_bash_completes_the_command(run, service_url, tmp_path):
    script = tmp_path / "gradwire"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m gradwire.command "$@"\n')
    script.chmod(0o755)
    asked = run("completion", "bash").stdout + (
        "COMP_WORDS=(gradwire ops arctan); COMP_CWORD=2\n"
        "_gradwire_completion gradwire; echo ${COMPREPLY[@]}\n"
    )
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", asked],
        env={**os.environ, "PATH": path, "GRADWIRE_URL": service_url},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["arctan", "arctan2", "arctanh"]

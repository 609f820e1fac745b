"""Peers are found in this environment, or in one named by an environment variable."""

import subprocess
import sys

from peers.interpreters import environment, installed, interpreter


def test_an_environment_variable_names_the_python_of_a_peer(monkeypatch, tmp_path):
    other = tmp_path / "python"
    other.symlink_to(sys.executable)
    monkeypatch.setenv("GRADWIRE_BENCH_TESSERACT", str(other))
    monkeypatch.delenv("GRADWIRE_BENCH_UMBRIDGE", raising=False)
    assert interpreter("tesseract_core") == str(other)
    assert interpreter("umbridge") == sys.executable


def test_the_interpreter_says_what_is_installed(monkeypatch, tmp_path):
    assert installed("json")
    assert not installed("no_such_module")
    without = tmp_path / "python"
    without.write_text("#!/bin/sh\nexit 1\n")
    without.chmod(0o755)
    monkeypatch.setenv("GRADWIRE_BENCH_JSON", str(without))
    assert not installed("json")


def test_processes_import_the_benchmarks_and_use_one_blas_thread():
    script = "import os, measure; print(os.environ['OMP_NUM_THREADS'], os.environ['MORE'])"
    told = subprocess.check_output([sys.executable, "-c", script], env=environment(MORE="so"))
    assert told.split() == [b"1", b"so"]

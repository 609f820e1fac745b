import os
import re
import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "examples" / "logistic_regression.py"


def run(url):
    environment = {**os.environ, "GRADWIRE_URL": url}
    command = [sys.executable, str(EXAMPLE)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_the_coefficients_are_scikit_learns(service_url):
    done = run(service_url)
    assert (done.returncode, done.stderr) == (0, "")
    difference = re.search(r"difference +(\S+) at most", done.stdout)
    assert difference is not None
    assert float(difference[1]) < 1e-4
    assert "569 patients, 30 standardised features" in done.stdout


def test_without_a_service_it_fails_and_says_so():
    done = run("http://127.0.0.1:1")
    assert done.returncode != 0
    assert "TransportError: http://127.0.0.1:1/v1/gradient" in done.stderr

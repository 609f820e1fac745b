import subprocess
import sys

import pytest

WITHOUT = """
import sys
sys.modules[sys.argv[2]] = None  # as if it were not installed
try:
    __import__(f"gradwire.adapters.{sys.argv[1]}")
except ModuleNotFoundError as error:
    print(error)
"""


@pytest.mark.parametrize("module", ["jax", "torch", "pytensor", "optax"])
def test_an_adapter_without_its_library_names_the_extra(module):
    run = [sys.executable, "-c", WITHOUT, module, module]
    told = subprocess.run(run, capture_output=True, text=True, check=True).stdout
    assert f'pip install "gradwire[{module}]"' in told

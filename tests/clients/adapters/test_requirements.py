import importlib
import sys

import gradwire
import pytest


@pytest.mark.parametrize("module", ["jax", "torch", "pytensor", "optax"])
def test_an_adapter_without_its_library_names_the_extra(module, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)  # as if it were not installed
    monkeypatch.delitem(sys.modules, f"gradwire.adapters.{module}", raising=False)
    with pytest.raises(ModuleNotFoundError) as told:
        importlib.import_module(f"gradwire.adapters.{module}")
    assert f'pip install "gradwire[{module}]"' in str(told.value)


@pytest.mark.parametrize("name", ["torch", "jax.numpy"])
def test_errors_about_c_functions_name_their_library(client, name):
    module = importlib.import_module(name)
    with pytest.raises(gradwire.NotTraceable, match="a recorded array cannot be used") as caught:
        client.grad(lambda x: 2 * module.sin(x))(1.0)
    assert caught.value.hint is not None
    assert caught.value.hint.startswith("write the function with NumPy")

"""What an import of the SDK imports: a public name's module, once the name is used."""

import ast
import importlib
import shutil
import subprocess
import sys
from pathlib import Path

import gradwire
import pytest
from gradwire import errors, hooks
from gradwire.display import facade


def imported(code: str) -> set[str]:
    """The modules that a new process has imported after the code."""
    code += "; import sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return set(done.stdout.split())


def of_sdk(modules: set[str]) -> set[str]:
    return {name for name in modules if name.split(".")[0] == "gradwire"}


def test_the_package_imports_nothing_before_it_is_used():
    modules = imported("import gradwire")
    assert of_sdk(modules) == {"gradwire", "gradwire.distributions", "gradwire.hooks"}
    assert not modules & {"numpy", "httpx", "asyncio", "inspect"}


def test_errors_need_no_client():
    assert of_sdk(imported("from gradwire import NotFound")) <= {
        "gradwire",
        "gradwire.distributions",
        "gradwire.documents",
        "gradwire.errors",
        "gradwire.hooks",
        "gradwire.locations",
    }


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["Client", "value_and_grad"])
def test_nothing_is_shown_before_it_is_asked_for(name: str):
    modules = of_sdk(imported(f"import gradwire; gradwire.{name}"))
    later = (["adapters"], ["display"], ["optimization"])
    assert not {name for name in modules if name.split(".")[1:2] in later}


def test_lower_layers_reach_what_is_displayed():
    display: hooks.Display = facade  # which type checkers compare
    assert hooks.display() is display
    assert set(facade.__all__) == {name for name in vars(hooks.Display) if not name.startswith("_")}


def test_the_stub_lists_each_public_name_once_and_its_module_defines_it():
    listed = [
        (alias.name, str(node.module))
        for node in ast.parse(Path(gradwire.__file__).with_suffix(".pyi").read_text()).body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    ]
    assert sorted(name for name, _ in listed) == vars(gradwire)["__all__"]
    assert {name for name, _ in listed} <= {*dir(gradwire)}
    for name, module in listed:
        assert getattr(gradwire, name) is getattr(importlib.import_module(module), name)
    defined = {
        name
        for name, value in vars(errors).items()
        if name[:1] != "_" and getattr(value, "__module__", "") == errors.__name__
    }
    assert {name for name, module in listed if module == errors.__name__} == defined
    assert not hasattr(gradwire, "something_else")
    assert "gradwire.adapters" in imported("import gradwire; gradwire.adapters")


def test_an_installation_without_the_stub_says_what_is_missing(tmp_path):
    left_out = shutil.ignore_patterns("__init__.pyi", "__pycache__")
    shutil.copytree(Path(gradwire.__file__).parent, tmp_path / "gradwire", ignore=left_out)
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import gradwire"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "ImportError: gradwire/__init__.pyi is missing: install gradwire again" in done.stderr

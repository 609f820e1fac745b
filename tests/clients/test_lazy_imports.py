"""What an import of the SDK imports: a public name's module, once the name is used."""

import ast
import inspect
import subprocess
import sys

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


def public_errors() -> list[str]:
    """What ``from gradwire.errors import *`` is to type checkers: what is defined there."""
    return [
        name
        for name, value in vars(errors).items()
        if name[:1] != "_" and getattr(value, "__module__", "") == errors.__name__
    ]


def test_type_checkers_see_what_is_imported_on_first_use():
    tree = ast.parse(inspect.getsource(gradwire))
    (block,) = [
        node.body
        for node in tree.body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    ]
    seen = {
        name: node.module
        for node in block
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        for name in (public_errors() if alias.name == "*" else [alias.name])
    }
    assert seen == {name: f"gradwire.{module}" for name, module in gradwire._MODULES.items()}
    assert sorted(seen) == vars(gradwire)["__all__"]
    assert set(vars(gradwire)["__all__"]) <= set(dir(gradwire))
    assert not hasattr(gradwire, "something_else")

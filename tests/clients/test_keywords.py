"""Signatures as help and notebooks show them are those that type checkers know."""

import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import gradwire
import pytest

ROOT = Path(__file__).parents[2]
METHODS = (
    "evaluate gradient check explain jacobian hessian jvp hvp grad value_and_grad map draw ops "
    "limits minimize least_squares root"
).split()
#: Methods with a declared union of answers.
DECLARED = {"grad", "value_and_grad"}
CLIENTS: dict[str, Any] = {"Client": gradwire.Client, "AsyncClient": gradwire.AsyncClient}
#: Names of parameters in mypy's notation, and keys of ``TypedDict``.
NAMES = re.compile(r"[(\[, ]\*{0,2}(\w+): |'(\w+)'\?: ")
#: Parameters that only functions have, in place of variables by name.
OF_FUNCTIONS = {"f", "client", "primals", "options", "points", "point"}


def shown(method):
    """The names of a method's parameters."""
    return {*inspect.signature(method).parameters}


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    """What mypy knows of each method, by the client and the name."""
    pytest.importorskip("mypy")
    keys = [(client, name) for client in CLIENTS for name in METHODS]
    lines = [f"reveal_type(gradwire.{client}().{name})" for client, name in keys]
    asked = tmp_path_factory.mktemp("asked") / "asked.py"
    asked.write_text("\n".join(["import gradwire", *lines]))
    command = [sys.executable, "-m", "mypy", asked]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    told = re.findall(r'note: Revealed type is "(.*)"$', done.stdout, re.MULTILINE)
    return dict(zip(keys, told, strict=True))


@pytest.mark.thorough
@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("kind", CLIENTS)
def test_parameters_and_answers_are_those_that_mypy_knows(checked, kind, name):
    method, revealed = getattr(CLIENTS[kind](), name), checked[kind, name]
    known = {first or second for first, second in NAMES.findall(revealed)}
    assert shown(method) ^ known <= OF_FUNCTIONS
    answer = inspect.signature(method).return_annotation.partition(" | ")[0]
    awaited = answer.startswith("Coroutine[")
    assert awaited == (kind == "AsyncClient" and name not in DECLARED)
    word = re.search(r"\w+", answer.removeprefix("Coroutine[Any, Any, "))
    assert word is not None
    if name not in DECLARED:
        assert re.search(rf"\b{word[0]}\b", revealed)


@pytest.mark.parametrize("kind", CLIENTS)
def test_options_are_keywords_and_the_answer_is_what_comes_back(kind):
    client = CLIENTS[kind]("http://127.0.0.1:1")
    awaited = "Coroutine[Any, Any, {}]" if kind == "AsyncClient" else "{}"
    signature = inspect.signature(client.gradient)
    assert signature.return_annotation == awaited.format("Gradient")
    assert {"sources", "target", "batch", "exact", "sparse_gradients"} <= shown(client.gradient)
    assert signature.parameters["sources"].kind is inspect.Parameter.KEYWORD_ONLY
    assert signature.parameters["sources"].annotation == "Names"
    assert {"variables", "mode", "format", "argnums"} <= shown(client.jacobian)
    assert {"bounds", "constraints", "callback", "background"} <= shown(client.minimize)
    assert {"loss", "f_scale", "tr_solver"} <= shown(gradwire.least_squares)
    job = gradwire.AsyncJob if kind == "AsyncClient" else gradwire.Job
    assert inspect.signature(job.wait).return_annotation == "Steps[None]"
    for of in client, CLIENTS[kind]:
        returned = inspect.signature(of.root).return_annotation
        assert returned == awaited.format(f"OptimizeResult | {job.__name__}")
    built = inspect.signature(CLIENTS[kind].gradient)
    assert [*built.parameters] == ["self", *signature.parameters]
    assert built.return_annotation == "Conversation[Gradient]"


GROUPS = ("", "programs", "tensors", "tapes", "jobs")


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("kind", CLIENTS)
def test_help_names_options_and_public_types(kind, group):
    """No method shows options as one mapping, nor an alias that only its module has."""
    client = CLIENTS[kind]()
    of = getattr(client, group) if group else client
    for name in (name for name in dir(of) if not name.startswith("_")):
        method = getattr(of, name)
        if callable(method) and not isinstance(method, type):
            written = str(inspect.signature(method))
            assert "Unpack[" not in written, name
            assert not re.search(r"[ \[|]_\w+", written.replace("_client", "")), (name, written)

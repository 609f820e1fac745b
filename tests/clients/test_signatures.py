"""Signatures as help and notebooks show them are those that type checkers know."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import gradwire
import pytest

ROOT = Path(__file__).parents[2]
METHODS = (
    "evaluate gradient check explain jacobian hessian jvp hvp grad value_and_grad map draw ops "
    "limits minimize least_squares root"
).split()
CLIENTS = {"Client": gradwire.Client, "AsyncClient": gradwire.AsyncClient}
#: Keywords, after a bracket or a comma, and keys of ``TypedDict``.
NAMES = re.compile(r"(?<=[(,] )(\w+):|(?<=[(])(\w+):|'(\w+)'\?:")


def shown(method):
    """The names of a method's parameters."""
    return {*inspect.signature(method).parameters}


@pytest.fixture(scope="module")
def checked():
    """What mypy knows of each method, by the client and the name."""
    pytest.importorskip("mypy")
    lines = [f"reveal_type(gradwire.{client}().{name})" for client in CLIENTS for name in METHODS]
    command = [sys.executable, "-m", "mypy", "-c", "\n".join(["import gradwire", *lines])]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    told = re.findall(r"^<string>:(\d+): note: Revealed type is \"(.*)\"$", done.stdout, re.M)
    revealed = {int(line): what for line, what in told}
    keys = [(client, name) for client in CLIENTS for name in METHODS]
    return {key: revealed[line] for line, key in enumerate(keys, start=2)}


@pytest.mark.thorough
@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("kind", CLIENTS)
def test_parameters_are_those_that_mypy_knows(checked, kind, name):
    method = getattr(CLIENTS[kind](), name)
    known = {next(filter(None, found)) for found in NAMES.findall(checked[kind, name])}
    functions = {"f", "client", "primals", "cotangents", "vectors", "tangents", "variables"}
    ours = shown(method)
    assert ours <= known | {"points", "point"}
    assert known <= ours | functions
    answer = inspect.signature(method).return_annotation.partition(" | ")[0]
    answer = answer.removeprefix("Coroutine[Any, Any, ").partition("[")[0].strip("]_")
    if answer not in ("Found", "Operations"):
        assert re.search(
            rf"\b{answer}\b", checked[kind, name].rpartition("-> ")[2] + checked[kind, name]
        )


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
    built = inspect.signature(CLIENTS[kind].gradient)
    assert [*built.parameters] == ["self", *signature.parameters]
    assert built.return_annotation == "Conversation[Gradient]"

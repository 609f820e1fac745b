"""Public functions and methods raise only ``GradwireError``, whatever their arguments."""

import asyncio
import inspect
from contextlib import suppress
from operator import attrgetter
from typing import Any

import gradwire
import numpy as np
import pytest
from gradwire.defaults import default_client
from gradwire.resources.programs import Programs
from gradwire.resources.tapes import Tapes
from gradwire.resources.tensors import Tensors
from hypothesis import given
from hypothesis import strategies as st

from tests.effort import examples


def one(*args):
    """A user's function that accepts anything and, as a loop's condition, ends the loop.

    Errors of a user's own function are not the SDK's.
    """
    return 0.0


def program_of(*names):
    """A function from the SDK alone: all its errors are the SDK's."""
    return gradwire.program(" + ".join(f"sum({name})" for name in names), *names)


class Unreadable:
    """An array that cannot be read, as a tensor of another library may be."""

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("detach it first")


#: A valid value for each argument, by its name.
RIGHT = {
    "adjoint": False,
    "api_key": "key",
    "args": (),
    "argnums": 0,
    "atol": 1e-6,
    "backward": lambda z_bar, z, x: (z_bar,),
    "base_url": "http://127.0.0.1:1",
    "batch": None,
    "body": lambda *carry: carry[-1],
    "chunk": 1,
    "client": None,
    "condition": lambda carry: False,
    "cotangents": 1.0,
    "document": None,
    "exact": False,
    "f": program_of("x"),
    "false_function": one,
    "format": "coo",
    "functions": [one],
    "gradients": {"w": np.ones(3)},
    "has_aux": False,
    "http_client": None,
    "in_axes": 0,
    "index": 0,
    "initial": 1.0,
    "length": 2,
    "lower": 0,
    "max_retries": 0,
    "max_steps": 10,
    "method": "rk4",
    "mode": "auto",
    "out_axes": 0,
    "output_gradients": None,
    "outputs": "x",
    "parameters": ("x",),
    "path": "/v1/limits",
    "persistent": True,
    "placement": "gpu",
    "point": ({"x": 1.0},),
    "points": ([{"x": 1.0}],),
    "predicate": True,
    "primals": (1.0,),
    "program": "x**2",
    "progress": False,
    "promotion": "numpy",
    "python": program_of("x"),
    "references": True,
    "rtol": 1e-6,
    "solve": None,
    "sources": "x",
    "sparse_gradients": False,
    "step": 1e-6,
    "steps": None,
    "t": np.linspace(0.0, 1.0, 3),
    "tangents": (1.0,),
    "target": None,
    "text": "x**2",
    "timeout": 10.0,
    "timeout_ms": 1000.0,
    "tolerance": 1e-8,
    "true_function": one,
    "unconnected_gradients": "zero",
    "upper": 2,
    "variables": {"x": 1.0},
    "vectors": (1.0,),
    "watch": ["x"],
    "watch_accessed_variables": True,
    "x": 1.0,
    "x0": 1.0,
    "xs": np.ones(2),
    "y0": 1.0,
}
#: Valid values for methods that take program text and variables by name.
OF_TEXT = {
    "args": ({"x": 1.0}, {"x": 1.0}),
    "subject": "x**2",
    "tangents": {"x": 1.0},
    "vectors": {"x": 1.0},
}
OPTIONS = (
    "batch exact format mode output_gradients outputs promotion rtol sources sparse_gradients "
    "target timeout_ms unconnected_gradients watch persistent wrt"
).split()

LEAVES = [
    None, True, 3, -1, 1.5, float("nan"), 10**400, "x", "x +", "", "\ud800", "\0", b"x", object(),
    one, Unreadable(), np.ones(2), np.array(["a"]), np.array([object()]), np.float32(2.0),
    np.datetime64("2020-01-01"), range(3), {1}, slice(1), ...,
]  # fmt: skip
WRONG = st.recursive(
    st.sampled_from(LEAVES),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.lists(inner, max_size=2).map(tuple)
        | st.dictionaries(st.sampled_from(["x", "", 3, "ref", "value", "re", "nodes"]), inner)
    ),
    max_leaves=3,
)


def arguments(data, entry, right):
    """Arguments of which at least one is invalid; ``*args`` and ``**kwargs`` count as one each."""
    parameters = inspect.signature(entry).parameters
    misused = data.draw(st.sets(st.sampled_from(sorted(parameters)), min_size=1, max_size=2))
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for name, parameter in parameters.items():
        wrong = name in misused
        if parameter.kind is parameter.VAR_KEYWORD:
            if wrong:
                kwargs |= data.draw(st.dictionaries(st.sampled_from(OPTIONS), WRONG, max_size=2))
        elif parameter.kind is parameter.VAR_POSITIONAL:
            args += data.draw(st.lists(WRONG, max_size=2)) if wrong else right[name]
        elif parameter.kind is parameter.KEYWORD_ONLY:
            if wrong:
                kwargs[name] = data.draw(WRONG)
        else:
            args.append(data.draw(WRONG) if wrong else right[name])
    return args, kwargs


def misuse(call):
    """Call it, and also the result if that is a function; ignore errors of the SDK."""
    with suppress(gradwire.GradwireError):
        made = call()
        if isinstance(made, gradwire.Function):
            made(1.0)


FUNCTIONS = [
    name for name in vars(gradwire)["__all__"] if inspect.isfunction(getattr(gradwire, name))
]
#: The methods that send something.
METHODS = [
    name
    for name, member in inspect.getmembers(gradwire.Client, callable)
    if not name.startswith("_") and name not in ("close", "local", "run", "send", "ops", "limits")
]
METHODS += [
    f"{group}.{name}"
    for group, kind in {"programs": Programs, "tensors": Tensors, "tapes": Tapes}.items()
    for name in dir(kind)
    if not name.startswith("_") and name not in ("run", "list")
]


@pytest.fixture(scope="module")
def asked(service_url):
    """The default client, which functions without their own client use."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("GRADWIRE_URL", service_url)
        yield default_client()


@pytest.mark.parametrize("name", FUNCTIONS)
@examples(40)
@given(data=st.data())
def test_functions_raise_only_gradwire_errors(asked, name, data):
    entry = getattr(gradwire, name)
    args, kwargs = arguments(data, entry, RIGHT)
    misuse(lambda: entry(*args, **kwargs))


@pytest.mark.parametrize("name", METHODS)
@examples(40)
@given(data=st.data())
def test_client_methods_raise_only_gradwire_errors(asked, name, data):
    method = attrgetter(name)(asked)
    takes_text = not {"program", "subject"}.isdisjoint(inspect.signature(method).parameters)
    right = RIGHT | {"method": "GET", "name": "a"} | (OF_TEXT if takes_text else {})
    right |= {"array": 1.0, "tensor": "sha256:0", "tape": "0"}
    args, kwargs = arguments(data, method, right)
    misuse(lambda: method(*args, **kwargs))


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["gradient", "hessian", "hvp", "jacobian", "jvp", "check"])
@examples(40)
@given(data=st.data())
def test_tape_methods_raise_only_gradwire_errors(asked, name, data):
    with asked.tape("x**2", {"x": 1.0}, persistent=True) as tape:
        args, kwargs = arguments(data, getattr(tape, name), RIGHT | OF_TEXT)
        misuse(lambda: getattr(tape, name)(*args, **kwargs))


@examples(40)
@given(data=st.data())
def test_async_methods_raise_only_gradwire_errors(data):
    async def evaluated():
        async with gradwire.AsyncClient("http://127.0.0.1:1", max_retries=0) as client:
            await client.evaluate(*args, **kwargs)

    args, kwargs = arguments(data, gradwire.AsyncClient.evaluate, {"self": None} | RIGHT)
    misuse(lambda: asyncio.run(evaluated()))


@pytest.mark.parametrize("kind", [gradwire.Client, gradwire.AsyncClient])
@examples(40)
@given(data=st.data())
def test_client_constructors_raise_only_gradwire_errors(kind, data):
    args, kwargs = arguments(data, kind, RIGHT)
    misuse(lambda: kind(*args, **kwargs))


@pytest.mark.parametrize(
    "make",
    [gradwire.grad, gradwire.value_and_grad, gradwire.jacobian, gradwire.hessian, gradwire.vmap],
)
@examples(40)
@given(args=st.lists(WRONG, max_size=2))
def test_transformed_functions_raise_only_gradwire_errors(asked, make, args):
    misuse(lambda: make(program_of("x"))(*args))


def test_errors_of_the_users_function_are_unchanged(asked):
    class Own(Exception):
        pass

    def raising(x):
        raise Own

    def dividing(x):
        return x * (1 / 0)

    for client_s in (asked.function, asked.grad, asked.vmap):
        with pytest.raises(Own):
            client_s(raising)(np.ones(2))
        with pytest.raises(ZeroDivisionError):
            client_s(dividing)(np.ones(2))


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda c: c.gradient(lambda w: w, {"x": 1.0}), "missing a required argument: 'w'"),
        (lambda c: c.hessian(lambda x: x, {"x": 1.0}, batch=["x"]), "gradwire.vmap"),
        (lambda c: c.tape(one, {"x": 1.0}), "gradwire.function"),
        (lambda c: c.grad("x**2", argnums=1), "sources and target go by name"),
        (lambda c: c.jvp(one, np.ones(2), np.ones(2)), "(primal,) is for one argument"),
        (lambda c: c.hvp(one), "missing a required argument: 'primals'"),
        (lambda c: c.hvp("x**2"), "missing"),
        (lambda c: c.function("x"), "expected a Python function, got program text"),
    ],
)
def test_confusing_text_and_functions_gets_a_hint(asked, call, told):
    with pytest.raises(gradwire.UsageError) as caught:
        call(asked)
    assert told in f"{caught.value}"

"""Values and gradients are those that JAX, PyTorch and TensorFlow gave: see README.md."""

import ast
import json
import re
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gradwire_engine import Leaf

from tests.engine.conftest import named

HERE = Path(__file__).parent
seed_like = runpy.run_path(str(HERE / "record.py"))["seed_like"]
EXCEPTIONS = runpy.run_path(str(HERE / "exceptions.py"))["EXCEPTIONS"]
#: Relative to the value, and to the largest of its array.
TOLERANCES = {"float32": 2e-5, "complex64": 2e-5}
TOLERANCE = 1e-9
ANSWERS: dict[str, list[dict[str, Any]]] = {
    path.stem: json.loads(path.read_text()) for path in sorted(HERE.glob("*.json"))
}
#: Functions of which PyTorch's tensors have no method, or one of another form.
NO_METHODS = frozenset(
    "as_tensor atleast_2d atleast_3d block_diag bucketize cartesian_prod cdist celu combinations "
    "complex constant_pad_nd conv1d conv2d cosine_similarity cumulative_trapezoid fill full_like "
    "imag isin ones_like pairwise_distance pdist pixel_shuffle polar polygamma real rsub "
    "searchsorted selu tensordot threshold trapezoid trapz view_as_real where zeros_like".split()
)
#: The cases by library and by the first letter of the function that is called first.
CASES: dict[tuple[str, str], list[dict[str, Any]]] = {}
for _library, _cases in ANSWERS.items():
    for _case in _cases:
        _called = re.search(r"((?:\w+\.)*\w)\w*(?=\()", _case["text"])
        _group = "a program" if "\n" in _case["text"] else _called[1] if _called else "no call"
        CASES.setdefault((_library, _group), []).append(_case)


def unpacked(packed: dict[str, Any]) -> np.ndarray[Any, Any]:
    dtype = np.dtype(packed["dtype"])
    parts = np.zeros(0, dtype).real.dtype
    return np.asarray(packed["data"], parts).view(dtype).reshape(packed["shape"])


def close(found: Any, expected: np.ndarray[Any, Any]) -> bool:
    found = np.asarray(found)
    if found.shape != expected.shape:
        return False
    if expected.dtype.kind not in "fc":
        return bool(np.array_equal(found, expected))
    tolerance = TOLERANCES.get(expected.dtype.name, TOLERANCE)
    largest = np.max(np.abs(expected), initial=0.0, where=np.isfinite(expected))
    return bool(np.allclose(found, expected, tolerance, tolerance * largest, equal_nan=True))


def leaves_of(case: dict[str, Any]) -> dict[str, Leaf]:
    return {name: Leaf(unpacked(v)) for name, v in case["variables"].items()}


def differences(ask: Any, case: dict[str, Any]) -> list[str]:
    """The differences: the value, or the gradient of a variable."""
    variables = leaves_of(case)
    value = unpacked(case["value"])
    gradients = []
    if case["gradients"]:
        before, _, last = case["text"].rpartition("\n")
        program = f"{before}\nall_of_it = {last}\nsum(real(conj(seed) * all_of_it))"
        given = variables | {"seed": Leaf(seed_like(value))}
        answer = ask.answer(program, given, sources=[*case["gradients"]], outputs="all_of_it")
        found, gradients = np.asarray(answer.outputs), answer.gradients
    else:
        found = np.asarray(ask.value(case["text"], variables))
    wrong = [] if close(found, value) else [f"value {found!r} instead of {value!r}"]
    if found.dtype != value.dtype:
        wrong.append(f"dtype {found.dtype} instead of {value.dtype}")
    if not wrong:
        for name, gradient in zip(case["gradients"], gradients, strict=True):
            source = variables[name].value
            expected = case["gradients"][name]
            theirs = np.zeros_like(source) if expected is None else unpacked(expected)
            ours = np.zeros_like(source) if gradient is None else gradient
            if not close(ours, theirs):
                wrong.append(f"gradient of {name}: {ours!r} instead of {theirs!r}")
    return wrong


@pytest.mark.parametrize(("library", "initial"), CASES)
def test_answers_of(ask, library, initial):
    for case in CASES[library, initial]:
        with named(case["text"]):
            found = differences(ask, case)
            reason = EXCEPTIONS.get((library, case["text"]))
            assert bool(found) == bool(reason), found or f"does not differ: {reason}"


def as_method(text: str) -> str | None:
    """The same call of a function of PyTorch as a method of its first argument, if it is one."""
    match ast.parse(text, mode="eval").body if "\n" not in text else None:
        case ast.Call(
            ast.Attribute(ast.Name("torch"), name), [ast.Name(tensor), *rest], keywords
        ) if name not in NO_METHODS:
            written = [ast.unparse(argument) for argument in rest]
            written += [f"{k.arg}={ast.unparse(k.value)}" for k in keywords]
            return f"{tensor}.{name}({', '.join(written)})"
    return None


@pytest.mark.parametrize("initial", sorted({i for library, i in CASES if library == "torch"}))
def test_functions_of_pytorch_are_methods(ask, initial):
    for case in CASES["torch", initial]:
        text = as_method(case["text"])
        if text is not None and ("torch", case["text"]) not in EXCEPTIONS:
            with named(text):
                found = ask.value(f"tensors = torch.pi\n{text}", leaves_of(case))
                assert close(found, unpacked(case["value"]))


@pytest.mark.parametrize("library", ["jax", "tensorflow", "torch"])
def test_every_case_is_recorded(library):
    cases = runpy.run_path(str(HERE / "cases" / f"{library}.py"))["CASES"]
    recorded = [case["text"] for case in ANSWERS[library]]
    assert recorded == [text for text, _ in cases]


def test_exceptions_are_of_recorded_answers():
    recorded = {(library, case["text"]) for library in ANSWERS for case in ANSWERS[library]}
    assert EXCEPTIONS.keys() <= recorded

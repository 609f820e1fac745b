"""Requests for optimisations: read, refused where they are wrong; and waiting for answers."""

import base64

import numpy as np
import pytest
from gradwire_engine.errors import InputError
from gradwire_service.problems import RequestError
from gradwire_service.wire.solving import WAIT_MS, read_solve, read_waiting
from gradwire_solvers import METHODS, Minibatch

MINIMUM = {"program": "sum(x*x)", "variables": {"x": [1, 2]}}


def test_defaults():
    for kind in METHODS:
        found = read_solve(MINIMUM, kind)
        assert found.program == MINIMUM["program"]
        np.testing.assert_array_equal(found.variables["x"].value, [1, 2])
        assert (found.sources, found.target) == (None, None)
        assert (found.promotion, found.exact, found.encoding) == ("numpy", False, None)
        assert read_solve(MINIMUM | {"exact": True}, kind).exact
        given = found.specification
        assert (given.kind, given.method) == (kind, next(iter(METHODS[kind])))
        assert not any([given.options, given.bounds, given.constraints])
        assert (given.minibatch, given.max_seconds) == (None, None)


def test_every_field_is_read():
    raw = base64.b64encode(np.array([3.0, 4]).tobytes()).decode()
    tensor = {"dtype": "float64", "shape": [2], "base64": raw}
    given = read_solve(
        MINIMUM
        | {
            "sources": {"a": "x"},
            "target": "y",
            "method": "SLSQP",
            "options": {"maxiter": 5},
            "tol": 1e-3,
            "bounds": {"x": [[0, "-Infinity"], tensor], "z": [None, 1.5]},
            "constraints": [
                {"program": "sum(x)", "low": 1, "high": 1},
                {"target": "y", "high": [1, 2]},
            ],
            "promotion": "strict",
            "encoding": "base64",
            "background": True,
            "wait_ms": 0,
            "max_seconds": 5,
        },
        "minimize",
    )
    how = given.specification
    assert (given.sources, given.target) == ({"a": "x"}, "y")
    assert (how.method, how.options, how.tol, how.max_seconds) == ("SLSQP", {"maxiter": 5}, 1e-3, 5)
    low, high = how.bounds["x"]
    np.testing.assert_array_equal(low, [0, -np.inf])
    np.testing.assert_array_equal(high, [3, 4])
    assert how.bounds["z"] == (None, 1.5)
    first, second = how.constraints
    assert (first.program, first.target, first.low, first.high) == ("sum(x)", None, 1, 1)
    assert (second.program, second.target, second.low) == (None, "y", None)
    np.testing.assert_array_equal(second.high, [1, 2])


def test_a_minibatch_is_read():
    minibatch = {"size": 8, "variables": ["X", "y"]}
    document = MINIMUM | {"method": "adam", "minibatch": minibatch}
    read = read_solve(document, "minimize").specification.minibatch
    assert read == Minibatch(8, ["X", "y"], 0)
    minibatch["seed"] = 3
    assert read_solve(document, "minimize").specification.minibatch == Minibatch(8, ["X", "y"], 3)


def test_null_counts_as_absent():
    names = "sources target method options tol bounds constraints minibatch promotion encoding"
    nulls = dict.fromkeys([*names.split(), "exact", "background", "wait_ms", "max_seconds"])
    assert read_solve(MINIMUM | nulls, "minimize").specification.method == "L-BFGS-B"


@pytest.mark.parametrize(
    ("changes", "pointer", "words"),
    [
        ({"nonsense": 1}, "/nonsense", "unknown field"),
        ({"batch": ["x"]}, "/batch", "unknown field"),
        ({"variables": [1]}, "/variables", "must be an object, got a list"),
        ({"method": 3}, "/method", "must be a string, got a number"),
        ({"options": []}, "/options", "must be an object"),
        ({"tol": -1}, "/tol", "at least 0"),
        ({"tol": "small"}, "/tol", "at least 0"),
        ({"max_seconds": 0}, "/max_seconds", "positive"),
        ({"wait_ms": True}, "/wait_ms", "at least 0"),
        ({"background": 1}, "/background", "true"),
        ({"exact": 1}, "/exact", "true"),
        ({"bounds": {"x": 1}}, "/bounds/x", r"a list \[low, high\]"),
        ({"bounds": {"x": [1]}}, "/bounds/x", r"a list \[low, high\]"),
        ({"bounds": {"a/b": [1, "high"]}}, "/bounds/a~1b/1", "a number or an array"),
        ({"bounds": {"x": [[1, [2]], 3]}}, "/bounds/x/0/1", "ragged"),
        ({"constraints": {}}, "/constraints", "a list of at most"),
        ({"constraints": [{}] * 101}, "/constraints", "a list of at most"),
        ({"constraints": [1]}, "/constraints/0", "expected a JSON object"),
        ({"constraints": [{"low": 1}]}, "/constraints/0", "a program, or a target"),
        ({"constraints": [{"program": "x", "target": "y"}]}, "/constraints/0", "a program, or"),
        ({"constraints": [{"program": 1}]}, "/constraints/0/program", "source text or an object"),
        ({"constraints": [{"target": 1}]}, "/constraints/0/target", "names are strings"),
        ({"constraints": [{"program": "x", "lo": 1}]}, "/constraints/0/lo", "unknown field"),
        ({"constraints": [{"target": "y", "low": {}}]}, "/constraints/0/low", "a number or an"),
        ({"minibatch": 3}, "/minibatch", "expected a JSON object"),
        ({"minibatch": {"size": 0, "variables": ["x"]}}, "/minibatch/size", "positive integer"),
        ({"minibatch": {"size": 1}}, "/minibatch/variables", "a list of names"),
        ({"minibatch": {"size": 1, "variables": []}}, "/minibatch/variables", "at least one"),
        (
            {"minibatch": {"size": 1, "variables": ["x"], "seed": -1}},
            "/minibatch/seed",
            "an integer of at least 0",
        ),
    ],
)
def test_wrong_fields_are_refused(changes, pointer, words):
    with pytest.raises(RequestError, match=words) as refused:
        read_solve(MINIMUM | {"method": "SLSQP"} | changes, "minimize")
    assert refused.value.pointer == pointer


@pytest.mark.parametrize("kind", ["least_squares", "root"])
def test_fields_of_minima_alone_are_unknown_elsewhere(kind):
    for field in ("constraints", "minibatch"):
        with pytest.raises(RequestError, match="unknown field"):
            read_solve(MINIMUM | {field: []}, kind)


def test_methods_and_options_are_checked():
    with pytest.raises(InputError, match="no method 'simplex'"):
        read_solve(MINIMUM | {"method": "simplex"}, "minimize")
    with pytest.raises(InputError, match="no option 'maxcorr'"):
        read_solve(MINIMUM | {"options": {"maxcorr": 3}}, "minimize")


def test_missing_references_are_reported_together():
    ref = "sha256:" + "0" * 64
    document = {
        "program": {"ref": ref.replace("0", "1")},
        "variables": {"x": {"ref": ref}},
        "method": "SLSQP",
        "bounds": {"x": [{"ref": ref.replace("0", "2")}, None]},
        "constraints": [{"program": {"ref": ref.replace("0", "3")}}],
    }
    with pytest.raises(RequestError) as refused:
        read_solve(document, "minimize")
    assert refused.value.code == "unknown_ref"
    assert len(refused.value.missing) == 4


def test_waiting():
    assert read_waiting({}) == (False, WAIT_MS)
    assert read_waiting({"background": True, "wait_ms": 20}) == (True, 20)
    assert read_waiting([]) == (False, WAIT_MS)
    with pytest.raises(RequestError, match="wait_ms"):
        read_waiting({"wait_ms": -1})


def test_the_default_takes_constraints_where_there_are_some():
    constrained = {"constraints": [{"target": "y", "low": 1}]}
    assert read_solve(MINIMUM | constrained, "minimize").specification.method == "SLSQP"
    assert read_solve(MINIMUM | {"constraints": []}, "minimize").specification.method == "L-BFGS-B"

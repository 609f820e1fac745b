"""The published schema allows exactly what the decoder accepts."""

import copy
import json
import re
from typing import Any

import numpy as np
import pytest
from gradwire_engine import Engine
from gradwire_engine.errors import EngineError
from gradwire_service import examples, openapi
from gradwire_service.app import create_app
from gradwire_service.problems import RequestError, problem_of
from gradwire_service.settings import Settings
from gradwire_service.wire.codec import JSON
from gradwire_service.wire.envelope import FIELDS, read_envelope, read_tape, read_timeout
from gradwire_service.wire.leaves import read_tensor
from gradwire_service.wire.references import References
from gradwire_service.wire.solving import read_solve
from gradwire_service.wire.sources import read_registration
from gradwire_solvers import SolveKind
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from tests.effort import share

#: Constraints that no schema can express, by the place and the words of the decoder's error.
BEYOND_SCHEMAS = {
    "how long lists are, one beside the other": "ragged|re has shape",
    "how deep anything nests": "nested? (more than|deeper)",
    "whether numbers fit the dtype that stands beside them": "needs a whole number|: .*int.* holds"
    "|number is too large|a bool is 0, 1, true or false",
    "what a text encodes, and how many bytes a shape needs": "invalid base64|of this shape has"
    "|bytes of a bool|no array can have",
    "raw bytes, which JSON does not have": "/data: data must be raw bytes",
    "what the parts of a tensor are, and how they go together": "have the shape|outside the shape"
    "|row_splits (do not|is a list)|of a ragged|must be integers, got|the values are"
    "|a shape is a list|/shape: an array has at most",
    "that 2.0, which schemas count among the integers, is no length or axis": "a shape is a list"
    "|batch must be a list",
    "the structure of the target, which is that of its cotangents": "^/output_gradients",
    "in which of Unicode's forms a name is": "Unicode's form NFKC",
    "what attributes an operation takes": "^/program/nodes/.*/attrs",
    "which options a method has, what it takes beside, and their values": "^/(options|constraints)"
    "|takes no (bounds|minibatch)|^/tol: (one|each) tolerance",
    "which names are free, or computed before": "another node has this id|not computed yet",
}
BEYOND = re.compile("|".join(BEYOND_SCHEMAS.values()))
REF = "sha256:" + "0" * 64
PROGRAM = Engine().parse("x")


def held(kind, reference):
    """A lookup in which every reference exists."""
    return np.zeros((), np.int64) if kind == "tensors" else PROGRAM


def asking(kind, *, of_tape=False):
    def read(document):
        read_timeout(document)
        return read_envelope(document, kind, References(held), of_tape=of_tape).program

    return read


def recording(document):
    read_timeout(document)
    return read_tape(document, References(held)).program


def registering(document):
    return read_registration(document, References(held)).program


def solving(kind):
    return lambda document: read_solve(document, kind, References(held)).program


READERS = {
    **{openapi.REQUESTS[kind].__name__: asking(kind) for kind in FIELDS},
    **{of.__name__: asking(kind, of_tape=True) for kind, of in openapi.TAPE_REQUESTS.items()},
    **{of.__name__: solving(kind) for kind, of in openapi.SOLVE_REQUESTS.items()},
    "TapeRequest": recording,
    "RegisterRequest": registering,
    "Tensor": read_tensor,
}
SCHEMA = create_app(Settings(cores=1)).openapi()["components"]["schemas"]
TEXTS = st.sampled_from(["", "x", "y.0", "value", "re", "im", "ref", "NaN", "π"])
WORDS = sorted(set(re.findall(r'"([a-z_0-9/]+)"', json.dumps(SCHEMA))))
SCALARS = [None, True, False, 0, 1, -1, 0.5, 2.0, 1 << 63, "", "x", "NaN", "float32", REF]
SAMPLES: list[Any] = [
    *SCALARS,
    *([scalar] for scalar in SCALARS),
    *([], [[]], [1, [2]], {}, {"x": 1}, {"re": 1}, {"ref": REF}, {"value": 1}),
    *({"re": 1, "im": 2}, {"value": {"re": 1, "im": [2]}}),
    {"dtype": "uint8", "shape": [3], "base64": "AAAA"},
    {"indices": [[0]], "values": [1], "shape": [2]},
    {"values": [1], "row_splits": [0, 1]},
    {"nodes": [], "outputs": "x"},
]
#: By number, since hypothesis warns of strategies that are long when written out.
JUNK: st.SearchStrategy = st.sampled_from(range(len(SAMPLES))).map(
    lambda number: copy.deepcopy(SAMPLES[number])
)


VALIDATORS = {
    name: Draft202012Validator(
        {"$ref": f"#/components/schemas/{name}", "components": {"schemas": SCHEMA}}
    )
    for name in READERS
}


def conforming(part):
    """Random documents of a schema, as far as pydantic expresses it."""
    if "$ref" in part:
        return named(part["$ref"].rpartition("/")[2])
    if "if" in part:  # otherwise unrestricted
        assert part["else"] == {"not": {}}
        return conforming(part["if"])
    if "anyOf" in part:
        return st.one_of([conforming(choice) for choice in part["anyOf"]])
    if "const" in part or "enum" in part:
        return st.sampled_from([part["const"]] if "const" in part else part["enum"])
    match part.get("type"):
        case "null":
            return st.none()
        case "boolean":
            return st.booleans()
        case "integer":
            return st.integers(part.get("minimum", -(1 << 63)), 9)
        case "number":
            above = part.get("exclusiveMinimum")
            least = part.get("minimum", above)
            return st.integers(1, 9) | st.floats(
                min_value=least, exclude_min=above is not None, allow_nan=False, width=32
            ).filter(np.isfinite)
        case "string":
            if "pattern" in part:
                return st.from_regex(part["pattern"].removesuffix("$") + r"\Z")
            return TEXTS.filter(lambda text: len(text) >= part.get("minLength", 0))
        case "array":
            most = min(part.get("maxItems", 3), 3)
            return st.lists(
                conforming(part["items"]), min_size=part.get("minItems", 0), max_size=most
            )
        case "object":
            return members(part)
    return JUNK


def members(part):
    fields = part.get("properties", {})
    required = part.get("required", [])
    known = st.fixed_dictionaries(
        {name: conforming(fields[name]) for name in required},
        optional={name: conforming(of) for name, of in fields.items() if name not in required},
    )
    further = part.get("additionalProperties", not fields)
    if further is False or fields:
        return known
    whole = Draft202012Validator({key: part[key] for key in part.keys() & {"propertyNames", "not"}})
    inner = JUNK if further is True else conforming(further)
    least = part.get("minProperties", 0)
    return st.dictionaries(TEXTS, inner, min_size=least, max_size=3).filter(whole.is_valid)


NAMED: dict[str, st.SearchStrategy] = {}


def named(name):
    if name not in NAMED:
        NAMED[name] = st.deferred(lambda: conforming(SCHEMA[name]))
    return NAMED[name]


def places(value, path=()):
    """The path of every member at every level."""
    yield path
    of = value.items() if type(value) is dict else enumerate(value) if type(value) is list else ()
    for key, item in of:
        yield from places(item, (*path, key))


@st.composite
def mutated(draw, given_documents):
    """A document with a random change that is likely to make it invalid."""
    whole = [copy.deepcopy(draw(given_documents))]
    for _ in range(draw(st.integers(1, 2))):
        *path, last = draw(st.sampled_from([place for place in places(whole) if place]))
        outer: Any = whole
        for key in path:
            outer = outer[key]
        change = draw(st.sampled_from(["replace", "remove", "add", "wrap", "nest"]))
        if change == "replace":
            outer[last] = draw(JUNK)
        elif change == "remove":
            if outer is not whole:
                del outer[last]
        elif change == "add" and isinstance(outer, dict):
            outer[draw(st.sampled_from(WORDS))] = draw(JUNK)
        elif change == "wrap":
            outer[last] = [outer[last]]
        else:
            outer[last] = {draw(st.sampled_from(WORDS)): outer[last]}
    return whole[0]


LEAVES: dict[str, Any] = {
    "number": 1.5,
    "word": "Infinity",
    "text": "some text",
    "flags": [True, False],
    "list": [[1, 2], [3, 4]],
    "value": {"value": [1, 0], "dtype": "int8", "trainable": False, "shape": None},
    "noted": {"value": "a text"},
    "complex": {"re": [1], "im": [2], "dtype": "complex64"},
    "inner": {"value": {"re": 1, "im": 2}, "dtype": None},
    "raw": {"dtype": "uint8", "shape": [3], "base64": "AAAA"},
    "held": {"ref": REF, "trainable": True},
    "sparse": {"indices": [[0, 1]], "values": [3], "shape": [2, 2], "dtype": "float32"},
    "parts": {
        "indices": {"value": [[0]], "dtype": "int32"},
        "values": {"re": [1], "im": [2]},
        "shape": {"dtype": "uint8", "shape": [1], "base64": "Ag=="},
    },
    "ragged": {"values": [[1], [2]], "row_splits": [0, 1, 2]},
    "nested": {"re": 1, "x": [{"value": 1}, "text"]},
}
GRAPH = {
    "format": "gradwire/1",
    "nodes": [
        {"id": "a", "op": "sin", "args": ["x"]},
        {"id": "b", "op": "sum", "args": [{"op": "add", "args": ["a", 1]}], "attrs": {"axis": 0}},
    ],
    "outputs": {"a": ["a", "b"]},
}
QUESTION: dict[str, Any] = {
    "outputs": ["a", {"b": "c"}],
    "batch": {"x": 0},
    "encoding": "base64",
    "timeout_ms": 100,
    "target": "y",
    "unconnected_gradients": "zero",
    "sources": ["x", None, {"y": ["z"]}],
    "output_gradients": [[1, 2], [3, 4]],
    "sparse_gradients": "summed",
    "format": "coo",
    "mode": "auto",
    "step": 0.1,
    "rtol": 1,
    "atol": 1e-3,
    "tangents": {"x": [1, 2], "y": {"z": [{"value": 1}, {"re": 1, "im": 2}]}},
    "vectors": {"x": {"ref": REF}, "y": {"z": [{"value": {"ref": REF}}]}},
    "persistent": True,
    "watch": ["x"],
    "watch_accessed_variables": False,
    "promotion": "strict",
    "exact": True,
}
SOLVING: dict[str, Any] = {
    "sources": ["x", None, {"y": ["z"]}],
    "target": "y",
    "tol": 1e-6,
    "bounds": {"x": [[0, "-Infinity"], None], "y.z": [{"ref": REF}, {"value": [1, 2]}]},
    "promotion": "strict",
    "encoding": "base64",
    "background": True,
    "wait_ms": 0,
    "max_seconds": 0.5,
}
CONSTRAINTS = [{"program": "x", "low": 1, "high": 1}, {"target": ["a", "b"], "high": [1, 2]}]
MINIBATCH = {"size": 8, "variables": ["X"], "seed": 3}
SOLVED: dict[SolveKind, list[dict[str, Any]]] = {
    "minimize": [
        {"method": "SLSQP", "constraints": CONSTRAINTS, "options": {"maxiter": 3}},
        {"method": "adam", "minibatch": MINIBATCH, "options": {"learning_rate": 0.5}},
        {"options": {"ftol": 0}},
    ],
    "least_squares": [{"method": "dogbox", "options": {"loss": "huber", "x_scale": "jac"}}],
    "root": [{"method": "krylov"}],
}
GOOD: dict[str, list[Any]] = {
    name: [
        {
            field: value
            for field, value in {**QUESTION, "program": program, "variables": LEAVES}.items()
            if field in SCHEMA[name]["properties"]
        }
        for program in ("y = x", GRAPH, {"ref": REF}, {"name": "it"})
    ]
    for name in READERS
    if name != "Tensor"
}
for solve_kind, further in SOLVED.items():
    of = openapi.SOLVE_REQUESTS[solve_kind].__name__
    common = {name: value for name, value in SOLVING.items() if name in SCHEMA[of]["properties"]}
    GOOD[of] = [
        {**common, **each, "program": program, "variables": LEAVES}
        for each in further
        for program in ("y = x", GRAPH, {"ref": REF}, {"name": "it"})
    ]
GOOD["RootRequest"][0]["tol"] = None
for kind, requests in examples.REQUESTS.items():
    GOOD[openapi.REQUESTS[kind].__name__] += [example["value"] for example in requests.values()]
GOOD["RegisterRequest"].append({"program": "x", "name": "it", "ref": REF})
GOOD["Tensor"] = [LEAVES[name] for name in ("list", "number", "value", "complex", "inner", "raw")]


def refusal(name, document):
    """The place and code of a document's error, if any, ignoring its program."""
    try:
        program = READERS[name](document)
        if isinstance(program, dict):
            Engine().parse(program)
    except (RequestError, EngineError) as error:
        problem = problem_of(error)
        if problem.code in ("invalid_request", "malformed_tensor", "invalid_program"):
            return f"{problem.pointer}: {problem.detail}"
    return None


def compare(name, document):
    document = JSON.read(json.dumps(document).encode())
    refused = refusal(name, document)
    if not VALIDATORS[name].is_valid(document):
        assert refused is not None, "only the schema refuses it"
    elif refused is not None:
        assert BEYOND.search(refused), "only the decoder refuses it"


#: A failing example is shown whole, be it long.
pytestmark = pytest.mark.filterwarnings("ignore:Generating overly large repr")
names = pytest.mark.parametrize("name", READERS)
no_deadline = settings(suppress_health_check=list(HealthCheck))


@names
def test_valid_documents_are_accepted(name):
    for document in GOOD[name]:
        assert refusal(name, document) is None
        VALIDATORS[name].validate(document)


@names
@given(data=st.data())
@settings(no_deadline, max_examples=share(40))
def test_documents_generated_from_the_schema_are_accepted(name, data):
    document = data.draw(named(name))
    assert VALIDATORS[name].is_valid(document)
    compare(name, document)


@names
@given(data=st.data())
@settings(no_deadline, max_examples=share(100))
def test_schema_and_decoder_agree_on_changed_documents(name, data):
    compare(name, data.draw(mutated(st.sampled_from(GOOD[name]))))

"""Every field of a compute request, valid and invalid."""

import pytest
from gradwire_engine import Engine
from gradwire_engine.answer import Query
from gradwire_service.problems import RequestError
from gradwire_service.wire.envelope import FIELDS, read_envelope, read_tape, read_timeout
from gradwire_service.wire.fields import MOST_NAMES
from gradwire_service.wire.references import References
from gradwire_service.wire.sources import MOST_TEXT


def refusal(kind="gradient", **document):
    with pytest.raises(RequestError) as caught:
        read_envelope(document, kind)
    return caught.value


def test_the_minimal_request():
    envelope = read_envelope({"program": "x"}, "gradient")
    assert envelope.program == "x"
    assert envelope.variables == {}
    assert envelope.query == Query("gradient")
    assert (envelope.vectors, envelope.encoding) == (None, None)


def test_null_fields_equal_absent_ones():
    document = dict.fromkeys(FIELDS["gradient"]) | {"program": "x"}
    assert read_envelope(document, "gradient") == read_envelope({"program": "x"}, "gradient")


def test_every_field_is_read():
    envelope = read_envelope(
        {
            "program": {"nodes": []},
            "variables": {"x": 1},
            "outputs": ["a", {"b": "c"}],
            "target": {"a": ["y"]},
            "sources": ["x", None, {"n": []}],
            "output_gradients": {"a": [2]},
            "unconnected_gradients": "zero",
            "sparse_gradients": "summed",
            "encoding": "base64",
            "promotion": "strict",
            "exact": True,
            "timeout_ms": 1500,
        },
        "gradient",
    )
    assert envelope.query == Query(
        "gradient",
        outputs=["a", {"b": "c"}],
        target={"a": ["y"]},
        sources=["x", None, {"n": []}],
        unconnected="zero",
        slices="summed",
        promotion="strict",
        exact=True,
    )
    assert envelope.vectors["a"][0] == 2.0
    assert envelope.encoding == "base64"
    evaluated = read_envelope({"program": "x", "outputs": "y"}, "evaluate")
    assert evaluated.query.outputs == "y"


@pytest.mark.parametrize("document", [[], "x", 1, None, True])
def test_a_request_must_be_an_object(document):
    with pytest.raises(RequestError) as caught:
        read_envelope(document, "evaluate")
    assert (caught.value.code, caught.value.pointer) == ("invalid_request", "")


@pytest.mark.parametrize(
    ("field", "value", "pointer"),
    [
        ("program", None, "/program"),
        ("program", 1, "/program"),
        ("program", ["x"], "/program"),
        ("program", {"ref": 1}, "/program/ref"),
        ("program", {"ref": "a", "name": "b"}, "/program"),
        ("variables", [1], "/variables"),
        ("variables", "x", "/variables"),
        ("outputs", 1, "/outputs"),
        ("outputs", ["a", None], "/outputs/1"),
        ("target", True, "/target"),
        ("target", {"a/b": {"~": 1}}, "/target/a~1b/~0"),
        ("sources", [["x", 3]], "/sources/0/1"),
        ("unconnected_gradients", "ZERO", "/unconnected_gradients"),
        ("unconnected_gradients", ["zero"], "/unconnected_gradients"),
        ("encoding", "binary", "/encoding"),
        ("promotion", "tf", "/promotion"),
        ("exact", 1, "/exact"),
        ("batch", "x", "/batch"),
        ("batch", [], "/batch"),
        ("batch", {}, "/batch"),
        ("batch", ["x", 1], "/batch"),
        ("batch", {"x": 0.5}, "/batch"),
        ("batch", {"x": True}, "/batch"),
        ("sparse_gradients", "coo", "/sparse_gradients"),
        ("sparse_gradients", 1, "/sparse_gradients"),
        ("so/me", 1, "/so~1me"),
        ("", 1, "/"),
        ("\x00", 1, "/\x00"),
    ],
)
def test_invalid_fields_are_refused(field, value, pointer):
    error = refusal(**{"program": "x", field: value})
    assert (error.code, error.pointer) == ("invalid_request", pointer)


def test_a_request_must_have_a_program():
    assert refusal(variables={}).pointer == "/program"


def test_an_unknown_field_is_refused_with_a_list_of_known_ones():
    error = refusal("evaluate", program="x", target="y")
    assert error.hint.startswith("known fields: batch, encoding, exact, keep, outputs")
    assert "y" not in error.detail.split()


def test_nesting_of_names_is_limited():
    names: object = "x"
    for _ in range(1000):
        names = [names]
    assert refusal(program="x", sources=names).pointer == "/sources"


def test_length_of_names_and_texts_is_limited():
    names = ["x"] * MOST_NAMES
    assert read_envelope({"program": "x", "sources": names}, "gradient").query.sources == names
    assert refusal(program="x", sources=[names]).pointer == "/sources"
    assert refusal(program=" " * (MOST_TEXT + 1)).code == "over_budget"


P, Q, T, S = (f"sha256:{digit * 64}" for digit in "1234")


@pytest.mark.parametrize(
    ("document", "missing"),
    [
        ({"program": {"ref": P}}, [P]),
        ({"program": {"name": "rosenbrock"}}, ["rosenbrock"]),
        (
            {"program": {"ref": P}, "variables": {"a": {"ref": T}, "b": [1, {"ref": T}]}},
            [P, T],
        ),
        ({"program": "x", "output_gradients": {"ref": S}}, [S]),
    ],
)
def test_all_missing_references_are_reported_together(document, missing):
    error = refusal(**document)
    assert error.code == "unknown_ref"
    assert error.missing == missing


def test_a_program_is_found_by_its_id_or_name():
    program = Engine().parse("y = x")
    held = {("programs", P): program, ("names", "it"): program}
    for reference in {"ref": P}, {"name": "it"}:
        references = References(lambda *of: held.get(of))
        assert read_envelope({"program": reference}, "evaluate", references).program is program
        assert read_tape({"program": reference}, references).program is program


@pytest.mark.parametrize(
    ("program", "pointer"),
    [
        ({"ref": "rosenbrock"}, "/program/ref"),
        ({"ref": None}, "/program/ref"),
        ({"name": 1}, "/program/name"),
        ({"name": P}, "/program/name"),
        ({"name": "-x"}, "/program/name"),
        ({"name": "x" * 129}, "/program/name"),
        ({"name": "x\n"}, "/program/name"),
        ({"name": "x", "outputs": "y"}, "/program"),
    ],
)
def test_invalid_references_are_refused(program, pointer):
    error = refusal(program=program)
    assert (error.code, error.pointer) == ("invalid_request", pointer)


def test_the_timeout_of_a_request_is_read():
    assert read_timeout({"timeout_ms": 10}) == 10.0


@pytest.mark.parametrize("document", [{}, {"timeout_ms": None}, [], 1])
def test_the_timeout_is_optional(document):
    assert read_timeout(document) is None


@pytest.mark.parametrize("value", [0, -1.5, "10", True, 1e400, []])
def test_invalid_timeouts_are_refused(value):
    with pytest.raises(RequestError) as caught:
        read_timeout({"timeout_ms": value})
    assert (caught.value.code, caught.value.pointer) == ("invalid_request", "/timeout_ms")


@pytest.mark.parametrize(
    ("mistaken", "meant"),
    [
        ("wrt", "sources"),
        ("Sources", "sources"),
        ("variable", "variables"),
        ("inputs", "variables"),
        ("program_text", "program"),
        ("outputs_gradients", "output_gradients"),
        ("timeout", "timeout_ms"),
    ],
)
def test_mistaken_field_names_get_a_suggestion(mistaken, meant):
    error = refusal(**{"program": "x", mistaken: "x"})
    assert (error.pointer, error.hint) == (f"/{mistaken}", f"did you mean {meant}?")

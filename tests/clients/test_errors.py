import pickle

import gradwire
import pytest
from gradwire.errors import error_class
from gradwire_service.problems import KINDS

#: Codes in the protocol that the service does not send yet.
PLANNED = {
    "unauthenticated": 401,
    "forbidden": 403,
    "unknown_tape": 404,
    "tape_consumed": 409,
    "job_cancelled": 409,
    "rate_limited": 429,
}
CODES = {code: kind.status for code, kind in KINDS.items()} | PLANNED


@pytest.mark.parametrize("code", CODES)
def test_every_code_has_a_subclass_of_its_statuss_class(code):
    precise, general = error_class(CODES[code], code), error_class(CODES[code], "of a later day")
    assert precise.__name__ in vars(gradwire)["__all__"]
    assert issubclass(precise, general)
    assert error_class(599, code) is precise


def test_no_two_codes_share_a_class():
    assert len({error_class(CODES[code], code) for code in CODES}) == len(CODES)


@pytest.mark.parametrize(
    ("status", "name"), [(418, "APIError"), (429, "RateLimited"), (502, "ServerError")]
)
def test_an_unknown_code_falls_back_to_the_status(status, name):
    assert error_class(status, "of a later day").__name__ == name
    assert error_class(status, None).__name__ == name


def test_connection_errors_are_also_pythons_connection_errors():
    assert issubclass(gradwire.TransportError, ConnectionError)
    assert issubclass(gradwire.RequestTimeout, TimeoutError)


def shape_mismatch() -> gradwire.APIError:
    return gradwire.ShapeMismatch(
        "matmul needs equal inner sizes, got (3, 4) and (5, 2)",
        status=422,
        code="shape_mismatch",
        hint="transpose the second operand",
        pointer="/program",
        node=gradwire.Node(op="matmul", line=2, column=7),
        request_id="a1-2",
        problem={"title": "Shape mismatch"},
        source="h = x\ny = h @ w",
    )


def test_the_message_says_what_where_and_what_to_do():
    assert str(shape_mismatch()) == (
        "matmul needs equal inner sizes, got (3, 4) and (5, 2)\n"
        "  line 2: y = h @ w\n"
        "                ^\n"
        "hint: transpose the second operand\n"
        "(shape_mismatch, 422, at /program, request a1-2)"
    )


def test_the_message_omits_missing_parts():
    assert str(gradwire.APIError("gone", status=410)) == "gone\n(410)"


def test_errors_can_be_pickled():
    error = pickle.loads(pickle.dumps(shape_mismatch()))
    assert type(error) is gradwire.ShapeMismatch
    assert str(error) == str(shape_mismatch())
    assert error.problem == {"title": "Shape mismatch"}


def test_missing_references_are_listed():
    error = gradwire.UnknownRef("no such tensor", status=404, problem={"missing": ["sha256:0"]})
    assert error.missing == ["sha256:0"]
    assert gradwire.UnknownRef("no such tensor", status=404).missing == []

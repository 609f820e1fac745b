import pickle

import gradwire


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

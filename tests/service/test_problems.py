"""Every error class has a code, and all problems are short."""

import inspect

import orjson
import pytest
from gradwire_engine import errors
from gradwire_service.problems import KINDS, MAX_BODY_BYTES, RequestError, problem_of
from starlette.exceptions import HTTPException


def document(error):
    return orjson.loads(problem_of(error).body("r1"))


@pytest.mark.parametrize(
    ("error", "code", "status"),
    [
        (errors.ProgramError, "invalid_program", 422),
        (errors.ProgramSyntaxError, "syntax_error", 422),
        (errors.UnknownOperation, "unknown_op", 422),
        (errors.UnknownName, "unknown_name", 422),
        (errors.InvalidProgram, "invalid_program", 422),
        (errors.ArgumentError, "bad_argument", 422),
        (errors.BadArgument, "bad_argument", 422),
        (errors.ShapeMismatch, "shape_mismatch", 422),
        (errors.DtypeMismatch, "dtype_mismatch", 422),
        (errors.DerivativeError, "not_differentiable", 422),
        (errors.ShardingError, "not_a_sum", 422),
        (errors.InputError, "invalid_request", 422),
        (errors.DomainError, "domain_error", 422),
        (errors.LimitExceeded, "over_budget", 413),
        (errors.OverBudget, "over_budget", 413),
        (errors.DeadlineExceeded, "deadline_exceeded", 504),
        (errors.InternalError, "internal_error", 500),
        (errors.EngineError, "internal_error", 500),
    ],
)
def test_engine_errors_become_problems(error, code, status):
    problem = document(error("what happened"))
    assert (problem["code"], problem["status"]) == (code, status)
    assert problem["detail"] == (
        "what happened" if status != 500 else "the engine failed on this request"
    )


def test_every_engine_error_has_a_code():
    classes = [c for _, c in inspect.getmembers(errors, inspect.isclass)]
    failures = [c for c in classes if issubclass(c, errors.EngineError)]
    internal = [c.__name__ for c in failures if problem_of(c("")).code == "internal_error"]
    assert sorted(internal) == ["EngineError", "InternalError"]


def test_a_problem_has_all_members():
    at = errors.Place(op="matmul", id="h", line=3, column=7)
    error = errors.ShapeMismatch("inner sizes differ", at=at, hint="transpose")
    assert document(error) == {
        "type": "urn:gradwire:problem:shape_mismatch",
        "title": KINDS["shape_mismatch"].title,
        "status": 422,
        "detail": "inner sizes differ",
        "instance": "urn:gradwire:request:r1",
        "code": "shape_mismatch",
        "pointer": "/program",
        "node": {"id": "h", "op": "matmul", "line": 3, "column": 7},
        "hint": "transpose",
    }
    at = errors.Place(pointer="/program/nodes/7")
    assert document(errors.InvalidProgram("a cycle", at=at))["pointer"] == "/program/nodes/7"
    assert "node" not in document(errors.InvalidProgram("a cycle", at=at))


@pytest.mark.parametrize("text", ["x" * 10**6, "\x00" * 10**6, "𝄞" * 10**6, "\ud800" * 10**6])
def test_problems_are_short(text):
    at = errors.Place(op=text, id=text, pointer=text)
    for error in (
        errors.UnknownName(text, at=at, hint=text),
        RequestError("unknown_ref", text, pointer=text, hint=text, missing=[text] * 1000),
    ):
        body = problem_of(error).body("r" * 128)
        assert len(body) < MAX_BODY_BYTES
        assert body.decode()


def test_unexpected_errors_reveal_no_details():
    problem = problem_of(ValueError("a secret of /usr/lib"))
    assert problem.code == "internal_error"
    assert not problem.expected
    assert b"secret" not in problem.body("r1")


def test_http_errors_become_problems():
    problem = problem_of(HTTPException(405, headers={"Allow": "POST"}))
    assert (problem.code, problem.status, problem.headers) == (
        "method_not_allowed",
        405,
        (("Allow", "POST"),),
    )
    assert document(HTTPException(404))["code"] == "not_found"


def test_running_out_of_resources_is_not_reported_as_a_bug():
    assert problem_of(MemoryError()).code == "over_budget"
    assert problem_of(RecursionError()).code == "invalid_program"


def test_errors_may_have_a_retry_time():
    problem = problem_of(RequestError("overloaded", "full", retry_after_seconds=2))
    assert problem.headers == (("retry-after", "2"),)

import gradwire
import pytest
from gradwire.problems import error_class
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

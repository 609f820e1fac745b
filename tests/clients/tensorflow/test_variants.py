"""Functions that have their parameters from another one."""

import inspect
import traceback
from typing import Any

import pytest
from gradwire.tf.operations.families import unary
from gradwire.tf.variants import variant, with_name


def _divided(x, by=2):
    quotient = x / by
    return lambda sign: sign * quotient


@variant(_divided, 1)
def divided() -> Any:
    """``x / by``."""


def named():
    """Another name."""


def test_errors_name_the_line_that_failed():
    with pytest.raises(ZeroDivisionError) as caught:
        divided(1, 0)
    frame = traceback.extract_tb(caught.value.__traceback__)[-1]
    lines, first = inspect.getsourcelines(_divided)
    assert (frame.filename, frame.name) == (__file__, "divided")
    assert frame.lineno is not None
    assert lines[frame.lineno - first].strip() == "quotient = x / by"


def test_defaults_may_differ():
    other = with_name(_divided, named, {"by": 4})
    assert (other.__name__, other.__doc__) == ("named", "Another name.")
    assert other(8)(1) == 2.0
    assert divided(8) == 4.0


@pytest.mark.parametrize("misspelled", ["bye", "x"])
def test_defaults_of_no_parameter_with_one_are_refused(misspelled):
    with pytest.raises(AssertionError, match=misspelled):
        with_name(_divided, named, {misspelled: 4})
    with pytest.raises(AssertionError, match="nme"):
        unary("tf.nn.selu", "Selu", nme="x")(named)

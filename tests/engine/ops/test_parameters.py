"""First derivatives in parameters: recorded values on all sides of the rules' bounds.

The recorded values were computed once with mpmath, as differences of 50 digits.
"""

import numpy as np
import pytest
from gradwire_engine.backends.reference.namespace import NUMPY
from gradwire_engine.ops.special.distributions import StdtrInDf
from gradwire_engine.ops.special.elliptic import AlgebraicIntegral
from gradwire_engine.ops.special.incomplete_beta import BetaIncInAB
from numpy.testing import assert_allclose

from tests.tables import cases, table


def in_df(*operands):
    return found(StdtrInDf(1), *operands, 0)


def found(op, *operands):
    with np.errstate(all="ignore"):
        return op.kernel(NUMPY, *[np.asarray(values, float) for values in operands])


BETA = table(__file__, "BETA")
STUDENT = table(__file__, "STUDENT")
#: Twice in the degrees of freedom, and in these and the argument.
STUDENT_TWICE = table(__file__, "STUDENT_TWICE")


def test_incomplete_beta():
    operands, in_a, in_b = zip(*BETA, strict=True)
    columns = np.array(operands).T
    assert_allclose(found(BetaIncInAB(1, 0), *columns), in_a, rtol=1e-10)
    assert_allclose(found(BetaIncInAB(0, 1), *columns), in_b, rtol=1e-10)


def test_students_degrees_of_freedom():
    df, t, expected = zip(*STUDENT, strict=True)
    assert_allclose(in_df(df, t), expected, rtol=1e-9)
    assert in_df(3, -np.array(t)) == pytest.approx(-in_df(3, t))
    assert in_df(3, [0, np.inf]).tolist() == [0, 0]
    assert np.isnan(in_df([0, -1, 3], [1, 1, np.nan])).all()
    assert in_df(np.inf, 1) == 0


def test_second_derivatives_in_students_degrees_of_freedom(ask):
    df, t, in_df, in_both = map(np.array, zip(*STUDENT_TWICE, strict=True))
    program = "d = grad(sum(stdtr(df, t)), df)\ngrad(sum(d), df), grad(sum(d), t)"
    twice, mixed = ask.value(program, {"df": df, "t": t * 1.0})
    assert_allclose(twice, in_df, rtol=1e-7)
    assert_allclose(mixed, in_both, rtol=1e-12)


@cases("powers, rise")
def test_integrals_by_carlsons_functions_are_the_quadratures(powers, rise):
    """Also where operands are close, or one is 0."""
    x = np.array([0.3, 20.0, 1.7, 0.4, 0.0, 3.0])
    y = np.array([1.1, 0.2, 1.7 * (1 + 1e-4), 0.4, 2.0, 0.01])
    operands = [x, y, y[::-1] + 0.3, x[::-1] + 0.1][: len(powers)]
    if powers[0] > 0.5:
        operands[0] = x + 0.01
    op = AlgebraicIntegral(powers, rise)
    with np.errstate(all="ignore"):
        expected = op._quadrature(NUMPY, operands)
    assert_allclose(found(op, *operands), expected, rtol=1e-11)

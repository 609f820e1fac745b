"""First derivatives in parameters: recorded values on all sides of the rules' bounds.

The recorded values were computed once with mpmath, as differences of 50 digits.
"""

import numpy as np
import pytest
from gradwire_engine.backends.reference.namespace import NUMPY
from gradwire_engine.ops.special.distributions import StdtrInDf
from gradwire_engine.ops.special.elliptic import AlgebraicIntegral
from gradwire_engine.ops.special.incomplete_beta import BetaIncInAB


def in_df(*operands):
    return found(StdtrInDf(1), *operands, 0)


def found(op, *operands):
    with np.errstate(all="ignore"):
        return op.kernel(NUMPY, *[np.asarray(values, float) for values in operands])


BETA = [
    ((0.01, 0.02, 0.4), -22.39870618312107, 11.074574637678163),
    ((0.3, 900, 0.0001), -1.214765049639365, 0.00016488558482275295),
    ((300, 0.02, 0.9999), -6.109572765896346e-05, 2.8190047794888082),
    ((300, 300, 0.5004), -0.01628842495323955, 0.01630145728079098),
    ((5, 0.5, 0.79), -0.040806635345457185, 0.3232490833780237),
    ((84, 0.5, 0.977), -0.0013395993168169322, 0.14250359646095737),
    ((1000, 1000, 0.4), -1.8589548375507975e-20, 1.518902420317229e-20),
]
STUDENT = [
    (0.05, 0.3, 0.31771373492047345),
    (0.05, 1000_000.0, 3.477321510154325),
    (1, 1e-09, 6.148065706075626e-11),
    (4.7, 1.5, 0.0064265487381543595),
    (4.7, 40, 4.890215923514969e-07),
    (30, 0.001, 1.0983696417731622e-07),
    (168, 1.9747, 4.888788577202498e-06),
    (490, 0.2, 8.464599934829652e-08),
    (510, 2.1, 4.816752238080266e-07),
    (10_000.0, 0.5, 5.500850521962733e-10),
    (10_000.0, 6, 3.4726121078689746e-15),
    (1000_000.0, 1.4, 1.551175797106965e-13),
]
#: Twice in the degrees of freedom, and in these and the argument.
STUDENT_TWICE = [
    (1e-08, 1, -25000041.89814639, 0.4999998984651324),
    (0.001, 0.5, -252.9043309756578, 0.9896411893258322),
    (0.04, 1e10, -114.1052101209624, 1.475609367469706e-13),
    (0.3, 0.7, -0.59789506170142, 0.2466729465474585),
    (17, 5, -2.255921994687855e-6, -1.561793640662893e-5),
    (1e5, 1.5, -3.156972554517245e-16, 1.416761068396726e-12),
    (1e10, 1.5, -3.156991394167716e-31, 1.416598704219404e-22),
    (1e16, 0.5, -1.100204146138436e-49, 1.265234768059201e-33),
]


def test_incomplete_beta():
    operands, in_a, in_b = zip(*BETA, strict=True)
    columns = np.array(operands).T
    np.testing.assert_allclose(found(BetaIncInAB(1, 0), *columns), in_a, rtol=1e-10)
    np.testing.assert_allclose(found(BetaIncInAB(0, 1), *columns), in_b, rtol=1e-10)


def test_students_degrees_of_freedom():
    df, t, expected = zip(*STUDENT, strict=True)
    np.testing.assert_allclose(in_df(df, t), expected, rtol=1e-9)
    assert in_df(3, -np.array(t)) == pytest.approx(-in_df(3, t))
    assert in_df(3, [0, np.inf]).tolist() == [0, 0]
    assert np.isnan(in_df([0, -1, 3], [1, 1, np.nan])).all()
    assert in_df(np.inf, 1) == 0


def test_second_derivatives_in_students_degrees_of_freedom(ask):
    df, t, in_df, in_both = map(np.array, zip(*STUDENT_TWICE, strict=True))
    program = "d = grad(sum(stdtr(df, t)), df)\ngrad(sum(d), df), grad(sum(d), t)"
    twice, mixed = ask.value(program, {"df": df, "t": t * 1.0})
    np.testing.assert_allclose(twice, in_df, rtol=1e-7)
    np.testing.assert_allclose(mixed, in_both, rtol=1e-12)


@pytest.mark.parametrize(
    ("powers", "rise"),
    [
        ((1.5, 0.5, 0.5), 0),
        ((1.5, 0.5, 0.5), 1),
        ((0.5, 2.0), 0),
        ((0.5, 1.5, 1.5), 0),
        ((0.5, 0.5, 2.5), 0),
        ((1.5, 0.5, 0.5, 1.0), 0),
        ((0.5, 0.5, 0.5, 2.0), 0),
    ],
)
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
    np.testing.assert_allclose(found(op, *operands), expected, rtol=1e-11)

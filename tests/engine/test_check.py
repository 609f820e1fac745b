"""The checker finds what is wrong."""

import gradwire_engine.ops  # noqa: F401  (fills the registry)
import numpy as np
import pytest
from gradwire_engine.check import Call, check
from gradwire_engine.ops.arrays.rearranging import Flip
from gradwire_engine.ops.base import FUNCTIONS
from gradwire_engine.ops.constants import StopGradient
from gradwire_engine.ops.pointwise.arithmetic import Multiply
from gradwire_engine.ops.pointwise.complex import Conjugate
from gradwire_engine.ops.pointwise.exponential import Exp
from gradwire_engine.ops.reductions.reductions import Sum

X = np.array([0.3, 0.7])
Z = X + 0.4j


class WrongFactor(Exp):
    def vjp(self, z_bar, z, *operands):
        return (z_bar * z * 1.01,)


class WrongSecond(Exp):
    def vjp(self, z_bar, z, *operands):
        return (z_bar * StopGradient()(z),)


class WrongType(Exp):
    def kernel(self, xp, *operands):
        return xp.exp(operands[0]).astype("float32")


class WrongShape(Exp):
    def kernel(self, xp, *operands):
        return xp.exp(operands[0])[:1]


class Unconjugated(Multiply):
    def cotangent(self, number, z_bar, z, *operands):
        return z_bar * operands[1 - number]


class Nonlinear(Exp):
    def vjp(self, z_bar, z, *operands):
        return (z_bar * z_bar * z,)


class Unshifted(Sum):
    def batch(self, operands, batched):
        return self(*operands)


class Mixed(Exp):
    def batch(self, operands, batched):
        return Flip((0,))(self(*operands))


class NotANumber(Exp):
    def vjp(self, z_bar, z, *operands):
        return (z_bar * z * float("nan"),)


@pytest.mark.parametrize("wrong", [Unshifted((0,)), Mixed()])
def test_finds_a_wrong_batching_rule(wrong):
    assert claims(wrong, np.ones((2, 2)) * X[0]) == {("batched is a loop", 0)}


def claims(op, *values, order=2):
    return {(f.claim, f.order) for f in check(lambda b, *xs: op(*xs), values, order=order)}


@pytest.mark.parametrize("wrong", [WrongFactor, Nonlinear, NotANumber])
def test_finds_a_wrong_derivative(wrong):
    assert ("tangent is the slope", 1) in claims(wrong(), X)


def test_finds_a_derivative_that_is_wrong_only_to_second_order():
    assert claims(WrongSecond(), X, order=1) == set()
    assert {order for _, order in claims(WrongSecond(), X)} == {2}


@pytest.mark.parametrize("wrong", [WrongType, WrongShape])
def test_finds_a_wrong_type(wrong):
    assert claims(wrong(), X) == {("types", 0)}


def test_finds_a_missing_conjugate():
    assert claims(Unconjugated(), X, X) == set()
    assert ("cotangent is the slope", 1) in claims(Unconjugated(), Z, Z)


def test_finds_a_missing_path():
    def half(b, x):
        return x * StopGradient()(x)

    assert check(half, [X])


def test_takes_several_outputs_and_unconnected_inputs():
    def several(b, x, y, n):
        return [x * x, (Conjugate()(x), n), FUNCTIONS["floor"].record(b, y)]

    assert check(several, [Z, X, np.array([1, 2])]) == []


def test_a_call_finds_arrays_in_lists_and_keywords():
    call = Call.of("logsumexp", X, b=np.array([1.0, 2.0]))
    assert len(call.values) == 2
    assert check(call.record, call.values) == []


def test_single_precision_is_compared_with_double():
    assert claims(Exp(), X.astype("float32")) == set()
    assert ("tangent is the slope", 1) in claims(WrongFactor(), X.astype("float32"))

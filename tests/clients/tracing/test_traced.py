import gradwire
import numpy as np
import pytest

OUTSIDE = np.zeros(3)


def element(x):
    y = OUTSIDE
    y[0] = x[0]
    return y.sum()


def slice_of(x):
    y = OUTSIDE
    y[:] = x
    return y.sum()


@pytest.mark.parametrize("f", [element, slice_of])
def test_errors_are_clearer_than_numpys_for_plain_arrays(f, client):
    with pytest.raises(gradwire.NotTraceable, match=r"zeros_like\(x\)") as caught:
        gradwire.grad(f, client=client)(np.ones(3))
    assert f" in {f.__name__}" in str(caught.value)


def test_errors_of_the_function_itself_are_unchanged():
    def picky(x):
        raise ValueError("no such x")

    with pytest.raises(ValueError, match="no such x"):
        gradwire.grad(picky)(1.0)

"""Every operation that is computed on a GPU gives NumPy's numbers there."""

import pytest

from tests.engine.ops.kernel_calls import few_of_each, kernel_calls
from tests.gpu.registry import captured, outcomes, walked

pytestmark = pytest.mark.gpu


@pytest.fixture(scope="module")
def calls():
    host = pytest.importorskip("gradwire_gpu.cupy.host")
    return [
        call for call in few_of_each(kernel_calls(), 2) if not host.on_host(call.op, call.types)
    ]


def failures(found):
    return {each.name: (each.failed, each.first) for each in found if each.failed}


def test_walked(calls):
    assert failures(outcomes(calls, walked)) == {}


def is_captured(op):
    """The executable captures contractions, by other means than their kernel."""
    from gradwire_gpu.cupy.host import is_capturable

    return is_capturable(op) and op.name != "contract"


def test_captured(calls):
    capturable = [call for call in few_of_each(calls, 1) if is_captured(call.op)]
    assert failures(outcomes(capturable, captured)) == {}

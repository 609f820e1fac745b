"""The tracing benchmark records the same programs that the service would get."""

import gradwire
import numpy as np
import pytest
import tracing
from gradwire.tracing.functions import Function


@pytest.mark.parametrize("name", tracing.RECORDED)
def test_functions_are_recorded_completely(name, service_url):
    f, args, _ = tracing.RECORDED[name]
    echo = tracing.Echo()
    Function(f, echo)(*args)
    with gradwire.Client(service_url) as client:
        (found,) = client.evaluate(
            echo.document["program"],
            echo.document["variables"],
            outputs=echo.document["outputs"],
        ).outputs
    assert found == pytest.approx(f(*args))
    assert np.isfinite(found)

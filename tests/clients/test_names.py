"""Names that Python normalises: the SDK sends them unchanged, the service suggests another."""

from typing import Any

import gradwire
import numpy as np
import pytest

#: A ligature, which Python normalises to two letters.
NAME, READ = "\ufb01", "fi"


@pytest.mark.parametrize("variables", [{NAME: 2.0}, {"p": {NAME: 2.0}}, {NAME: 2.0, READ: 3.0}])
def test_a_variable_with_such_a_name_is_refused(client, variables):
    with pytest.raises(gradwire.APIError) as refusal:
        client.gradient("x * 2", {"x": 1.0, **variables})
    assert refusal.value.code == "invalid_request"
    assert READ in (refusal.value.hint or "")


def test_program_text_with_such_a_name_is_refused(client):
    with pytest.raises(gradwire.APIError) as refusal:
        client.evaluate(f"y = x\n{NAME} = y", {"x": 1.0})
    assert refusal.value.code == "syntax_error"
    assert refusal.value.node is not None
    assert refusal.value.node.line == 2


def test_function_parameters_have_the_normalised_name(client):
    namespace: dict[str, Any] = {}
    exec(f"def f(x, {NAME}): return x * {NAME}", namespace)
    value, gradients = gradwire.value_and_grad(namespace["f"], argnums=(0, 1), client=client)(
        2.0, 3.0
    )
    assert value == 6.0
    np.testing.assert_array_equal(gradients, [3.0, 2.0])


def test_keys_in_function_arguments_may_have_any_name(client):
    def f(p):
        return p[NAME] * p[READ]

    value, gradients = gradwire.value_and_grad(f, client=client)({NAME: 2.0, READ: 3.0})
    assert value == 6.0
    assert gradients == {NAME: 3.0, READ: 2.0}

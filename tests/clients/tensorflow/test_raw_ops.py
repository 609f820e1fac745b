"""Each operation of ``tf.raw_ops`` is a function of ``tf``."""

import gradwire.tf as tf
import pytest
from gradwire.tf import raw_ops
from gradwire.tf.absent import names_of


def test_there_is_the_function_of_each_operation():
    for name in names_of("raw_ops"):
        if not hasattr(raw_ops, name):
            continue
        contents = [each.cell_contents for each in getattr(raw_ops, name).__closure__]
        (place,) = {each for each in contents if isinstance(each, str)} - {name}
        assert callable(raw_ops._function(place)), name


# What TensorFlow 2.21 gives.
@pytest.mark.parametrize(
    ("name", "arguments", "result"),
    [
        ("BitwiseAnd", {"x": [6], "y": [3]}, [2]),
        ("BitwiseOr", {"x": [6], "y": [3]}, [7]),
        ("BitwiseXor", {"x": [6], "y": [3]}, [5]),
        ("LeftShift", {"x": [6], "y": [3]}, [48]),
        ("RightShift", {"x": [6], "y": [1]}, [3]),
        ("Any", {"input": [[True, False], [False, False]], "axis": 1}, [True, False]),
        ("MatrixDeterminant", {"input": [[2.0, 1.0], [1.0, 3.0]]}, 5.0),
    ],
)
def test_an_operation_computes_what_the_function_does(name, arguments, result):
    assert getattr(tf.raw_ops, name)(**arguments).numpy().tolist() == result

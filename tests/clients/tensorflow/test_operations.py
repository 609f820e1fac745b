"""Declared operations are functions of the service, described as in its catalogue."""

import inspect
from typing import Any

import gradwire.tf as tf
import pytest
from gradwire.tf.operations import (
    arrays,
    bitwise,
    image,
    layers,
    linalg,
    math,
    nn,
    reductions,
    signal,
    special,
)
from gradwire_engine.dialects.tensorflow import TF

from tests.clients.tensorflow.test_parameters import MEANINGLESS

MODULES = [arrays, bitwise, image, layers, linalg, math, nn, reductions, signal, special]


OPERATIONS: list[Any] = [
    each
    for module in MODULES
    for name, each in vars(module).items()
    if getattr(each, "__wrapped__", None) is not None and each.__name__ == name
]


def first_paragraph(doc: str | None) -> str:
    return " ".join((doc or "").strip().partition("\n\n")[0].split())


def test_what_they_say_is_in_the_catalogue():
    catalogue: dict[str, list[str]] = {}
    for name, each in TF.functions.items():
        catalogue.setdefault(name.rpartition(".")[2], []).append(first_paragraph(each.doc))
    other = [
        function.__name__
        for function in OPERATIONS
        if first_paragraph(function.__doc__) not in catalogue.get(function.__name__, ())
    ]
    assert other == []


def test_parameters_without_a_meaning_are_known():
    found = {
        parameter.name
        for function in OPERATIONS
        for parameter in inspect.signature(function).parameters.values()
        if parameter.annotation == "Unused"
    }
    assert found
    assert found <= MEANINGLESS.keys()


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [((), {}), (([1.0],), {"x": [1.0]}), (([1.0],), {"axes": 0}), (([1.0], "name", 3), {})],
)
def test_arguments_that_it_does_not_take_are_pythons_error(args, kwargs):
    with pytest.raises(TypeError, match=r"exp\(\)"):
        tf.exp(*args, **kwargs)


def test_arguments_may_be_given_by_name_or_place():
    pictures = tf.reshape(tf.range(32.0), (1, 4, 4, 2))
    expected = tf.nn.max_pool2d(pictures, 2, 2, "SAME").numpy().tolist()
    for pooled in (
        tf.nn.max_pool2d(padding="SAME", strides=2, ksize=2, input=pictures),
        tf.nn.max_pool2d(pictures, 2, padding="SAME", strides=2, data_format="NHWC", name="pool"),
    ):
        assert pooled.numpy().tolist() == expected


def test_operations_of_a_family_differ_in_names_and_defaults():
    functions: list[Any] = [tf.nn.avg_pool1d, tf.nn.avg_pool3d, tf.signal.irfftnd]
    defaults = [inspect.signature(each).parameters.get("data_format") for each in functions]
    assert [each and each.default for each in defaults] == ["NWC", "NDHWC", None]
    for each in functions:
        with pytest.raises(TypeError, match=rf"{each.__name__}\(\)"):
            each()


def test_variants_have_names_parameters_and_results_of_their_own():
    assert str(inspect.signature(tf.debugging.assert_less)) == (
        "(x: 'Any', y: 'Any', message: 'Any' = None, summarize: 'int | None' = None, "
        "name: 'str | None' = None) -> 'None'"
    )
    segment_max: Any = tf.math.segment_max
    assert segment_max.__qualname__ == "segment_max"
    assert segment_max.__module__ == "gradwire.tf.segments"
    with pytest.raises(TypeError, match=r"segment_max\(\)"):
        segment_max([1.0])

"""A name that TensorFlow has and ``gradwire.tf`` has not is an error that says so."""

import ast
import copy
import doctest
import importlib
import inspect
import pickle
import re
import runpy
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import Any

import gradwire.tf
import pytest
from gradwire.tf import absent, paths
from gradwire.tf.absent import MissingName, names_of, tensorflow_names

tf: Any = gradwire.tf
ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("place", "name"),
    [
        ("", "lite"),
        ("data", "FixedLengthRecordDataset"),
        ("keras.layers", "RandomShear"),
        ("nn.experimental", "general_dropout"),
        ("raw_ops", "ResourceApplyAdam"),
    ],
)
def test_a_name_of_tensorflows_that_is_not_here_is_both_errors(place, name):
    module = importlib.import_module(f"gradwire.tf.{place}".rstrip("."))
    full = f"tf.{place}.{name}".replace("..", ".")
    for kind in (NotImplementedError, AttributeError):
        with pytest.raises(kind, match=f"does not implement {full}(;|$)"):
            getattr(module, name)
    assert not hasattr(module, name)
    assert getattr(module, name, None) is None


def test_the_nearest_names_are_named():
    with pytest.raises(MissingName, match=r"nearest: tf\.image\.non_max_suppression"):
        tf.image.non_max_suppression_padded  # noqa: B018
    with pytest.raises(MissingName, match=r"instead: an argument of a Python function"):
        tf.compat.v1.placeholder  # noqa: B018


def test_what_to_use_instead_is_told_of_names_that_are_not_here():
    for full in absent._INSTEAD:
        place, _, name = full.rpartition(".")
        assert name in names_of(place), full
        with pytest.raises(AttributeError, match=re.escape(f"{full}; instead: ")):
            attrgetter(full)(tf)


def test_a_name_that_tensorflow_has_not_is_a_plain_error():
    for module in (tf, tf.math, tf.keras, tf.keras.layers, tf.raw_ops):
        with pytest.raises(AttributeError, match="has no attribute 'nonsense'") as caught:
            module.nonsense  # noqa: B018
        assert not isinstance(caught.value, NotImplementedError)


def test_imports_say_the_same():
    with pytest.raises(ImportError, match=r"does not implement tf\.data\.FixedLengthRecordDataset"):
        exec("from gradwire.tf.data import FixedLengthRecordDataset")
    with pytest.raises(ImportError, match=r"does not implement tf\.lite"):
        importlib.import_module("gradwire.tf.lite")
    with pytest.raises(ImportError, match="cannot import name 'nonsense'"):
        exec("from gradwire.tf.data import nonsense")
    with pytest.raises(ModuleNotFoundError, match=r"gradwire\.tf\.nonsense"):
        importlib.import_module("gradwire.tf.nonsense")


def test_modules_are_imported_by_tensorflows_places():
    assert importlib.import_module("gradwire.tf.nn.experimental") is tf.nn.experimental
    schedules = importlib.import_module("gradwire.tf.keras.optimizers.schedules")
    assert schedules is tf.keras.optimizers.schedules


def test_modules_of_tensorflows_own_have_public_names():
    known = paths._written()
    assert known["ops.array_ops"]["where_v2"] == "where"
    for place, names in known.items():
        module = importlib.import_module(f"gradwire.tf.python.{place}")
        for name, public in names.items():
            if name and paths._has("", public):
                assert getattr(module, name) is attrgetter(public)(tf), (place, name)
    eager = importlib.import_module("gradwire.tfe")
    backprop = importlib.import_module("gradwire.tf.python.eager.backprop")
    assert backprop.implicit_grad is eager.implicit_grad
    with pytest.raises(MissingName, match=r"tf\.compat\.v1\.where"):
        importlib.import_module("gradwire.tf.python.ops.array_ops").where  # noqa: B018
    with pytest.raises(ImportError, match=r"does not implement tf\.compat\.v1\.nn\.dropout"):
        exec("from gradwire.tf.python.ops.nn_ops import dropout")
    with pytest.raises(ImportError, match="cannot import name 'nonsense'"):
        exec("from gradwire.tf.python.ops import nonsense")


@pytest.mark.parametrize(
    ("path", "module"),
    [
        ("compat.v2", "gradwire.tf"),
        ("compat.v2.keras.layers", "gradwire.tf.keras.layers"),
        ("python.keras.backend", "gradwire.tf.keras.backend"),
        ("python.keras.optimizer_v2.adam", "gradwire.tf.keras"),
        ("python.keras.layers.recurrent_v2", "gradwire.tf.keras.layers"),
        ("python.keras.layers.core", "gradwire.tf.keras.layers.core"),
    ],
)
def test_another_path_is_the_same_module(path, module):
    found = importlib.import_module(f"gradwire.tf.{path}")
    assert found is importlib.import_module(module)
    assert found.__spec__ is not None
    assert found.__spec__.name == module


def test_older_names_are_those_that_tensorflow_has_for_them():
    for name, public in absent.same_names_of("compat.v1").items():
        if paths._has("", public):
            assert getattr(tf.compat.v1, name) is attrgetter(public)(tf), name


def test_what_looks_into_modules_works():
    with pytest.raises(MissingName) as caught:
        tf.lite  # noqa: B018
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    assert str(copy.copy(caught.value)) == str(caught.value)
    for module in (tf, tf.math, tf.keras.layers):
        assert inspect.getmembers(module)
        assert inspect.getsource(module)
        assert doctest.DocTestFinder().find(module)


@pytest.mark.thorough
def test_every_module_of_tensorflows_that_is_here_refuses_its_missing_names():
    for place in tensorflow_names():
        module: Any = tf
        try:
            for part in [] if place == "tf" else place.split("."):
                module = getattr(module, part)
        except MissingName:
            continue
        other = getattr(module, "_tensorflow_name", place)
        if other not in (place, place.removeprefix("tf")):  # another name of it
            continue
        missing = [name for name in names_of(place) if not hasattr(module, name)]
        for name in missing[:1]:
            with pytest.raises(MissingName, match=name):
                getattr(module, name)


#: They import what they offer as it is.
FACADES = ("keras.activations", "tf")


def imported(module: ModuleType) -> set[str]:
    """The names that a module imports for itself: not all of another one's, nor as themselves."""
    return {
        each.asname or each.name
        for node in ast.parse(inspect.getsource(module)).body
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for each in node.names
        if each.asname != each.name
    }


def test_no_name_of_tensorflows_is_there_by_accident():
    found = []
    for place in tensorflow_names():
        module: Any = tf
        for part in [] if place == "tf" else place.split("."):
            module = getattr(module, part, None)
        if isinstance(module, ModuleType) and "__file__" in vars(module) and place not in FACADES:
            names = {*names_of(place)} - {*vars(module).get("__all__", ())}
            found += [f"{place}.{name}" for name in names & imported(module)]
    assert found == []


def test_the_public_names_of_a_module_are_tensorflows():
    assert "assert_equal" in tf.debugging.__all__
    assert "invalid" not in tf.debugging.__all__
    assert set(tf.math.__all__) <= set(names_of("math"))


@pytest.mark.thorough
def test_the_page_of_names_is_fresh():
    page = runpy.run_path(str(ROOT / "tools" / "tensorflow_page.py"))["page"]
    text = (ROOT / "docs/reference/tensorflow.md").read_text(encoding="utf-8")
    assert page() == text, "run: make docs"

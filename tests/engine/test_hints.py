"""Mistakes from other languages get a hint, and what it says to write instead is right."""

import pytest
from gradwire_engine import errors, hints

from tests.tables import cases

VALUES = {"x": 2.0, "y": 3.0, "n": 3.0, "v": [1.0, 2.0, 3.0], "m": [[2.0, 1.0], [1.0, 3.0]]}


@cases("mistake, hint, right")
def test_a_mistake_from_elsewhere_has_a_hint_that_works(ask, mistake, hint, right):
    with pytest.raises(errors.EngineError) as caught:
        ask.value(mistake, VALUES)
    assert hint in (caught.value.hint or "")
    ask.value(right, VALUES)


@pytest.mark.parametrize("name", sorted(hints._RENAMED))
def test_suggestions_for_names_from_elsewhere_can_be_written(ask, name):
    hint = hints.for_name(name, ()) or ""
    suggested = hint.removeprefix("did you mean ").removesuffix("?")
    for alternative in suggested.split(", or "):
        ask.value(f"z = {alternative}\nx", {**VALUES, "x": VALUES["m"]})


@pytest.mark.parametrize(
    "fault",
    ["x = (1", "for i in v", "if x > 0", "y = 1e-3 +", "0x1f ** ", "1e5 +", "2j +", "x[", ")"],
)
def test_nothing_is_suggested_where_nothing_is_known(ask, fault):
    with pytest.raises(errors.ProgramSyntaxError) as caught:
        ask.value(fault, VALUES)
    assert caught.value.hint is None


@pytest.mark.parametrize("sources", ["v[0]", "v.0", ["x", "v[0]"], {"a": "m[0, 1]"}])
def test_an_element_is_not_a_source_and_the_hint_says_what_to_ask_for(ask, sources):
    with pytest.raises(errors.UnknownName) as caught:
        ask.answer("x * sum(v**2) + sum(m)", VALUES, sources=sources)
    assert caught.value.hint == hints.OF_ELEMENTS
    whole = ask.answer("x * sum(v**2) + sum(m)", VALUES, sources=["v"])
    assert whole.gradients[0][0] == 4.0


@pytest.mark.parametrize("asked", [{"target": "y[0]"}, {"target": "y", "outputs": ["y[1]"]}])
def test_elements_of_results_are_named_in_the_program(ask, asked):
    with pytest.raises(errors.UnknownName) as caught:
        ask.answer("y = v**2", VALUES, sources=["v"], **asked)
    assert caught.value.hint == hints.OF_NAMED_ELEMENTS
    found = ask.answer("y = v**2\ny0 = y[0]", VALUES, sources=["v"], target="y0")
    assert found.gradients[0].tolist() == [2, 0, 0]

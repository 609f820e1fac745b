"""Tapes as resources: S1 to S30 where they are about a tape rather than a gradient."""

from typing import Any

import pytest

from tests.tables import cases


class Tape:
    """A tape of the service."""

    def __init__(self, http: Any, made: Any) -> None:
        self.http = http
        self.made = made
        self.path = f"/v1/tapes/{made['tape']}"

    async def gradient(self, **fields: Any) -> Any:
        response = await self.http.post(f"{self.path}/gradient", json=fields)
        assert response.status_code == 200, response.text
        return response.json()

    async def refused(self, **fields: Any) -> Any:
        response = await self.http.post(f"{self.path}/gradient", json=fields)
        assert response.status_code >= 400, response.text
        return response.json()


@pytest.fixture
def record(wire):
    async def record(program: str, variables: Any = None, **fields: Any) -> Tape:
        response = await wire.post("/v1/tapes", program, variables, **fields)
        assert response.status_code == 201, response.text
        return Tape(wire.http, response.json())

    return record


FROZEN = {"value": 3.0, "trainable": False}


def reasons(answer):
    return {path: why["reason"] for path, why in answer.get("unconnected", {}).items()}


@pytest.mark.rule("S1")
async def test_what_is_computed_from_watched_values_is_recorded(record):
    tape = await record("h = x * x\ny = h * w", {"x": 3.0, "w": 2.0})
    assert tape.made["outputs"] == 18.0
    answer = await tape.gradient(target="y")
    assert (answer["value"], answer["gradients"]) == (18.0, {"x": 12.0, "w": 9.0})


@pytest.mark.rule("S3")
async def test_trainable_variables_are_watched_by_themselves(record):
    tape = await record("k = 5.0\nd = c + 1\ny = x * c * k * d", {"x": 2.0, "c": FROZEN})
    assert tape.made["watched"] == ["x"]
    answer = await tape.gradient(sources=["x", "c", "k", "d"])
    assert answer["gradients"] == [60.0, None, None, None]
    assert reasons(answer) == {"c": "not_trainable", "k": "not_watched", "d": "not_watched"}


@pytest.mark.rule("S4", "S5")
async def test_watching_makes_a_source(record):
    variables = {"x": 2.0, "c": FROZEN, "layer": {"w": {"value": 4.0, "trainable": False}}}
    program = "k = 5.0\nd = c + 1\ny = x * d * k * layer.w"
    tape = await record(program, variables, watch=["c", "k", "layer"])
    assert tape.made["watched"] == ["x", "c", "layer.w"]
    answer = await tape.gradient()
    assert answer["gradients"] == {"x": 80.0, "c": 40.0, "layer": {"w": 40.0}}
    tape = await record(program, variables, watch=["d"])
    answer = await tape.gradient(sources=["c", "d"])  # what came before stays unrecorded
    assert answer["gradients"] == [None, 40.0]


@pytest.mark.rule("S5")
@cases("watch, code, pointer")
async def test_only_arrays_are_watched(wire, watch, code, pointer):
    program = "n = 3\ndef f(x):\n    return x\ny = f(x) * n"
    variables = {"x": 1.0, "label": "a word"}
    response = await wire.post("/v1/tapes", program, variables, watch=watch)
    assert (response.json()["code"], response.json()["pointer"]) == (code, pointer)


@pytest.mark.rule("S6")
async def test_without_watching_accessed_variables_only_what_is_named_is(record):
    fields = {"watch_accessed_variables": False, "watch": ["w"]}
    tape = await record("h = x * w\ny = h * x", {"x": 3.0, "w": 2.0}, **fields)
    assert tape.made["watched"] == ["w"]
    answer = await tape.gradient(sources=["x", "w", "h"])
    assert answer["gradients"] == [None, 9.0, 3.0]
    assert reasons(answer) == {"x": "not_watched"}


@pytest.mark.rule("S7")
async def test_watched_variables_are_told_as_they_were_declared(record):
    variables = {
        "z": 1.0,
        "n": {"value": 1, "dtype": "int64"},
        "c": FROZEN,
        "a": [1.0],
        "s": "text",
        "unread": 1.0,
        "unread_but_named": 1.0,
        "paused": 1.0,
        "k": 1.0,
    }
    pause = "with stop_recording():\n  p = paused * k\n"
    program = f"h = a * z\n{pause}y = sum(h) * n + p\ng = c\nreturn y, k"
    watch = ["h", "z", "unread_but_named"]
    tape = await record(program, variables, watch=watch, persistent=True)
    assert tape.made["watched"] == ["z", "n", "a", "unread_but_named", "k"]
    await tape.gradient(target="y")
    shown = (await tape.http.get(tape.path)).json()
    assert shown["watched"] == tape.made["watched"]


@pytest.mark.rule("S8")
@pytest.mark.parametrize("stops", ["stop_recording", "tape.stop_recording", "torch.no_grad"])
async def test_what_is_computed_while_recording_stops_is_constant(record, stops):
    program = f"""
a = x * x
with {stops}():
  b = a * x
  slope = grad(b, x)
  parts = [b, {{"slope": slope}}]
y = a + b * parts[1]["slope"] * x
"""
    tape = await record(program, {"x": 2.0}, persistent=True)
    assert tape.made["outputs"] == 4 + 8 * 12 * 2  # the gradient within is another tape's
    answer = await tape.gradient(sources=["x", "b"])
    assert answer["gradients"] == [2 * 2 + 8 * 12, None]
    assert reasons(answer) == {"b": "not_watched"}
    answer = await tape.gradient(target="b")
    assert (answer["gradients"], reasons(answer)) == ({"x": None}, {"x": "stop_gradient"})


@pytest.mark.rule("S8")
@pytest.mark.parametrize(
    "program",
    [
        "def f(t):\n  with stop_recording():\n    return t * t\nf(x) * x",
        "for _ in range(3):\n  with stop_recording():\n    y = x * x\n    break\ny * x",
        "l = []\nwith stop_recording():\n  l.append(x * x)\nl[0] * x",
        "with stop_recording():\n  y = x * x\n  z = y\ngrad(y, z) * y * x",
    ],
)
async def test_recording_goes_on_however_the_pause_ends(record, program):
    tape = await record(program, {"x": 3.0})
    assert tape.made["outputs"] == 27.0
    assert (await tape.gradient())["gradients"] == {"x": 9.0}


@pytest.mark.rule("S8")
@pytest.mark.parametrize(
    "loop",
    [
        "t = x\nwhile t < 50:\n{}  t = t + 0.1 * h + x\nt * x",
        "t = x\nfor _ in range(1500):\n{}  t = t - 0.0001 * h * x\nt",
    ],
    ids=["as values decide", "long"],
)
async def test_a_pause_in_a_loop_is_stop_gradient_in_each_pass(wire, loop):
    pause = "  with stop_recording():\n    h = grad(t ** 3, t)\n"
    written_out = "  h = stop_gradient(grad(t ** 3, t))\n"
    paused = await wire.answer(loop.format(pause), {"x": 0.7})
    constant = await wire.answer(loop.format(written_out), {"x": 0.7})
    for field in "value", "gradients":
        assert paused[field] == constant[field]


@pytest.mark.rule("S10")
async def test_a_tape_made_anew_knows_nothing_of_the_one_before(record):
    request = {"program": "y = x * c", "variables": {"x": 2.0, "c": FROZEN}}
    tape = await record(**request, watch=["c"])
    assert (await tape.http.delete(tape.path)).status_code == 204
    assert (await tape.refused())["code"] == "unknown_tape"
    again = await record(**request)
    assert again.made["watched"] == ["x"]
    assert (await again.gradient())["gradients"] == {"x": 3.0, "c": None}


@pytest.mark.rule("S11")
async def test_a_gap_in_the_recording_is_constant_and_recording_goes_on(record):
    gap = "with stop_recording():\n  {0} = a * x\n"
    program = "a = x * x\n" + gap.format("p") + "b = a * p\n" + gap.format("q") + "y = b * q"
    request = {"program": program, "variables": {"x": 2.0}}
    used = await record(**request)
    for tape in used, await record(**request):  # what is used up and entered again is a fresh one
        assert (await tape.gradient())["gradients"] == {"x": 2 * 2 * 8 * 8}
    assert (await used.refused())["code"] == "tape_consumed"


@pytest.mark.rule("S12")
async def test_a_gradient_may_be_taken_while_recording(record):
    tape = await record("y = x * x\ng = grad(y, x)\nz = g * y", {"x": 3.0})
    assert (await tape.gradient(target="z"))["gradients"] == {"x": 6 * 3.0**2}


@pytest.mark.rule("S9")
async def test_what_is_stopped_can_be_watched(record):
    tape = await record("s = stop_gradient(x * x)\ny = s * x", {"x": 3.0}, watch=["s"])
    assert (await tape.gradient(sources=["x", "s"]))["gradients"] == [9.0, 3.0]


@pytest.mark.rule("S14")
async def test_an_empty_structure_uses_the_tape_up(record):
    tape = await record("x * x", {"x": 3.0})
    assert (await tape.gradient(sources={}))["gradients"] == {}
    assert (await tape.refused())["code"] == "tape_consumed"


@pytest.mark.rule("S15")
async def test_a_source_twice_is_the_whole_gradient_twice(record):
    tape = await record("x * x", {"x": 3.0})
    assert (await tape.gradient(sources=["x", "x"]))["gradients"] == [6.0, 6.0]


@pytest.mark.rule("S16")
async def test_a_target_has_slope_one_in_itself_even_unwatched(record):
    fields = {"watch_accessed_variables": False, "persistent": True}
    tape = await record("y = x * 2", {"x": 3.0, "c": FROZEN, "unread": 1.0}, **fields)
    for name in "x", "c", "unread", "y":
        assert (await tape.gradient(target=name, sources=name))["gradients"] == 1.0


@pytest.mark.rule("S17")
async def test_any_named_value_is_source_or_target(record):
    tape = await record("a = x * x\nb = a * 3\nc = b + a", {"x": 2.0}, persistent=True)
    answer = await tape.gradient(target="c", sources=["x", "a", "b"])
    assert answer["gradients"] == [16.0, 4.0, 1.0]
    answer = await tape.gradient(target="a", sources=["x", "b"])
    assert answer["gradients"] == [4.0, None]
    assert reasons(answer) == {"b": "no_path"}


@pytest.mark.rule("S19", "S20")
async def test_targets_and_their_weights(record):
    tape = await record("a = x * x\nb = 3 * x", {"x": [1.0, 2.0]}, persistent=True)
    fields = {"target": {"a": "a", "b": "b"}, "sources": "x"}
    assert (await tape.gradient(**fields))["gradients"] == [5.0, 7.0]
    fields["output_gradients"] = {"a": None, "b": [2.0, 0.0]}
    assert (await tape.gradient(**fields))["gradients"] == [8.0, 4.0]
    assert (await tape.gradient(**fields, outputs=["a"]))["outputs"] == [[1.0, 4.0]]


@pytest.mark.rule("S22")
async def test_zeros_where_asked(record):
    tape = await record("x * c", {"x": 2.0, "c": FROZEN, "s": "text"})
    answer = await tape.gradient(unconnected_gradients="zero")
    assert answer["gradients"] == {"x": 3.0, "c": 0.0, "s": None}


@pytest.mark.rule("S24", "S35")
@pytest.mark.parametrize("second", ["gradient", "jacobian", "hessian"])
@pytest.mark.parametrize("first", ["gradient", "jacobian", "hessian"])
async def test_a_tape_that_is_not_persistent_answers_once(record, first, second):
    tape = await record("x * x", {"x": 3.0})
    answer = (await tape.http.post(f"{tape.path}/{first}", json={"sources": "x"})).json()
    assert answer["jacobian" if first == "jacobian" else "gradients"] == 6.0
    problem = (await tape.http.post(f"{tape.path}/{second}", json={})).json()
    assert (problem["code"], problem["status"]) == ("tape_consumed", 409)
    assert problem["detail"] == (
        "A non-persistent GradientTape can only be used to compute one set of gradients "
        "(or jacobians)"
    )
    assert (await tape.http.get(tape.path)).status_code == 409


@pytest.mark.rule("S25")
async def test_a_persistent_tape_answers_any_number_of_times(record):
    tape = await record("a = x * x\nb = a * a", {"x": 3.0}, persistent=True)
    for _ in range(3):
        assert (await tape.gradient())["gradients"] == {"x": 108.0}
        assert (await tape.gradient(target="a"))["gradients"] == {"x": 6.0}


@pytest.mark.rule("S26")
async def test_a_refused_question_leaves_the_tape_usable(record):
    tape = await record("y = x * x", {"x": 3.0})
    for fields in (
        {"sources": "nothing"},
        {"target": "nothing"},
        {"unconnected_gradients": "NONE"},
        {"output_gradients": [1.0, 2.0]},
        {"program": "y = x"},
        {"timeout_ms": 1e-6},
    ):
        assert (await tape.refused(**fields))["code"] != "tape_consumed"
    assert (await tape.gradient())["gradients"] == {"x": 6.0}


@pytest.mark.rule("S27", "S30")
async def test_each_tape_has_its_own_watches(record):
    watching = await record("x * c", {"x": 2.0, "c": FROZEN}, watch=["c"])
    plain = await record("x * c", {"x": 2.0, "c": FROZEN})
    assert (await plain.gradient())["gradients"] == {"x": 3.0, "c": None}
    assert (await watching.gradient())["gradients"] == {"x": 3.0, "c": 2.0}


@pytest.mark.rule("S28")
async def test_a_gradient_in_the_program_is_recorded_too(record):
    tape = await record("y = x**3\ng = grad(y, x)", {"x": 2.0}, persistent=True)
    assert (await tape.gradient(target="y"))["gradients"] == {"x": 12.0}
    assert (await tape.gradient(target="g"))["gradients"] == {"x": 12.0}


@pytest.mark.rule("S40")
async def test_watching_what_is_not_floating_warns(record):
    tape = await record("y = x * n", {"x": 2.0, "n": {"value": 3, "dtype": "int32"}}, watch=["n"])
    assert [warning["code"] for warning in tape.made["warnings"]] == ["not_floating"]
    answer = await tape.gradient()
    assert reasons(answer) == {"n": "integer_dtype"}


@pytest.mark.rule("S53")
async def test_all_values_of_a_watched_variable_belong_to_it(record):
    program = "a = w * 2\nw.assign(w + 1)\ny = a + w * 10"
    tape = await record(program, {"w": {"value": 3.0, "trainable": False}}, watch=["w"])
    assert tape.made["updates"] == {"w": 4.0}
    assert (await tape.gradient())["gradients"] == {"w": 12.0}

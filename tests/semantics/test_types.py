"""Dtypes, and complex numbers: S50 to S52."""

import numpy as np
import pytest

F32, F64 = {"value": 2.0, "dtype": "float32"}, {"value": 3.0, "dtype": "float64"}
I32 = {"value": 3, "dtype": "int32"}


@pytest.mark.rule("S50")
@pytest.mark.parametrize("text", ["x * y", "x + n", "n / x", "maximum(y, x)", "[[x]] @ [[y]]"])
async def test_strictly_nothing_is_converted_silently(wire, text):
    variables = {"x": F32, "y": F64, "n": I32}
    assert (await wire.answer(text, variables))["value"] is not None
    refused = await wire.code(text, variables, promotion="strict")
    assert refused == ("dtype_mismatch", "/program")


@pytest.mark.rule("S50")
async def test_literals_adopt_the_dtype_that_can_hold_them(wire):
    found = await wire.value("[2 * x, 0.5 * x]", {"x": F32}, promotion="strict", encoding="base64")
    assert [one["dtype"] for one in found] == ["float32", "float32"]
    refused = await wire.code("0.5 * n", {"n": I32}, promotion="strict")
    assert refused == ("dtype_mismatch", "/program")


@pytest.mark.rule("S51")
async def test_json_numbers_are_doubles_unless_they_say_otherwise(wire):
    variables = {
        "a": 3,
        "b": [1, 2.5],
        "c": [True],
        "d": F32,
        "n": I32,
        "h": {"value": 1, "dtype": "float16"},
    }
    found = await wire.value("[a, b, c, d, n, 0.1 * h]", variables, encoding="base64")
    dtypes = [one["dtype"] for one in found]
    assert dtypes == ["float64", "float64", "bool", "float32", "int32", "float16"]
    gradients = await wire.gradients(
        "0.1 * h * d", variables, sources=["h", "d"], encoding="base64"
    )
    assert [one["dtype"] for one in gradients] == ["float16", "float32"]


@pytest.mark.rule("S52")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # of a holomorphic f the conjugate of f'
        ("z ** 2", 2 * (3 - 4j)),
        ("exp(z)", None),
        ("(1 + 2j) * z", 1 - 2j),
        # of a real L: ∂L/∂x + i ∂L/∂y
        ("abs(z) ** 2", 2 * (3 + 4j)),
        ("abs(z)", (3 + 4j) / 5),
        ("real(z) * 5", 5),
        ("imag(z) * 5", 5j),
        ("conj(z)", 1),
    ],
)
async def test_gradients_of_complex_numbers(wire, text, expected):
    variables = {"z": {"re": 3.0, "im": 4.0}}
    found = complex(*(await wire.gradients(text, variables, sources="z")).values())
    if expected is None:
        expected = complex(*(await wire.value(f"conj({text})", variables)).values())
    assert found == pytest.approx(expected)


@pytest.mark.rule("S52")
@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
@pytest.mark.parametrize(
    "text", ["z ** 2", "abs(z) ** 2", "stack([real(z), imag(z), abs(z)])", "exp(1j * real(z))"]
)
async def test_the_rows_of_a_jacobian_are_gradients(wire, text, mode):
    request = {"program": f"y = {text}", "variables": {"z": {"re": 3.0, "im": 4.0}}}
    response = await wire.post("/v1/jacobian", **request, sources="z", mode=mode)
    found = parts(response.json()["jacobian"])
    tall = np.ndim(found)
    rows = [
        parts(await wire.gradients(f"y = ({text}){part}", request["variables"], sources="z"))
        for part in ([f"[{i}]" for i in range(len(found))] if tall else [""])
    ]
    np.testing.assert_allclose(found, rows if tall else rows[0])


def parts(pair):
    return np.array(pair["re"]) + 1j * np.array(pair["im"])

"""The rules of the source text, each by its number."""

import numpy as np
import pytest
from gradwire_engine.errors import (
    BadArgument,
    EngineError,
    InputError,
    ShapeMismatch,
    UnknownName,
)

from tests.tables import cases

X = np.array([1.0, 2.0, 3.0])
M = np.arange(6.0).reshape(2, 3)


def refused(ask, text, variables=None, error=BadArgument):
    with pytest.raises(error) as caught:
        ask.value(text, variables)
    assert caught.value.at is not None
    return caught.value


@cases("text, expected")
def test_rule_01_a_name_is_a_value_of_its_own(ask, text, expected):
    assert ask.value(text, {"x": 3}) == pytest.approx(expected)


def test_rule_01_holds_for_targets_and_sources_of_the_request(ask):
    text = "a = x*x\nb = x*x\ny = a*b"
    assert ask.gradients(text, {"x": 3}, target="y", sources=["a", "b", "x"]) == [9, 9, 108]


def test_rule_02_the_id_does_not_depend_on_the_request(ask):
    program = ask.engine.parse("gamma*pi + e")
    before = program.id
    assert ask.value("gamma*pi + e", {"gamma": 1, "pi": 2, "e": 3}) == 5
    assert program.id == before


def test_rule_02_constants_are_variables_with_a_default(ask):
    assert ask.value("e") == np.e
    assert ask.value("e", {"e": 2}) == 2
    assert ask.gradients("pi*e", {"e": 2}) == {"e": np.pi}
    assert ask.value("np.pi") == np.pi
    assert ask.value("sin", {"sin": 3}) == 3


def test_rule_02_calling_a_variable_says_so(ask):
    assert "'sin' is a variable" in refused(ask, "sin(x)", {"x": 1, "sin": 2}).message
    assert "'x' is a variable" in refused(ask, "x(1)", {"x": 1}).message
    refused(ask, "y = x\ny(1)", {"x": 1})
    refused(ask, "x.w(1)", {"x": {"w": 1}})


def test_rule_02_operators_mean_the_operation_whatever_variables_are_called(ask):
    assert ask.value("add + multiply*2", {"add": 1, "multiply": 2}) == 5


def test_rule_02_a_missing_variable_is_named(ask):
    assert "'gamma_'" in refused(ask, "gamma_ + 1", error=UnknownName).message


@cases("text, expected")
def test_rule_03_max_of_two_is_maximum(ask, text, expected):
    assert np.array_equal(ask.value(text, {"x": X, "m": M}), expected)


def test_rule_04_grad_sees_the_value_held_there(ask):
    text = "y = x*x\ng = grad(y, x)\ny = y*5\ny + g"
    assert ask.value(text, {"x": 3}) == 51


def test_rule_04_the_request_means_the_last_value(ask):
    text = "y = x*x\ny = y*5\nz = y*y"
    assert ask.value(text, {"x": 1}, outputs="y") == 5
    assert ask.gradients(text, {"x": 1}, target="y", sources=["y", "x"]) == [1, 10]
    assert ask.gradients(text, {"x": 1}, target="z", sources="y") == 10


def test_rule_04_an_assigned_variable_shadows_its_value(ask):
    text = "x = 2*x\nx**2"
    assert ask.gradients(text, {"x": 3}, sources="x") == 12
    assert ask.gradients(text, {"x": 3}) == {"x": 24}


def test_rule_04_names_in_functions_are_local(ask):
    text = "def f(a):\n  b = a*2\n  return b\nf(x)"
    for query in ({"target": "b"}, {"sources": "a"}):
        with pytest.raises(UnknownName):
            ask.gradients(text, {"x": 1}, **query)
    assert ask.value("def f(x):\n  x = x + 1\n  return x\ny = f(x)\n[x, y]", {"x": 1}) == [1, 2]


def test_rule_04_free_names_are_looked_up_at_the_call(ask):
    assert ask.value("def f():\n  return c\nc = 2.0\nc = 3.0\nf()") == 3
    assert ask.value("def f(a=c):\n  return a\nc = 2.0\nf()", {"c": 1}) == 1
    refused(ask, "def f():\n  return c\nf()\nc = 2.0", error=UnknownName)


def test_rule_04_a_local_name_is_not_looked_up_outside(ask):
    refused(ask, "def f():\n  b = c\n  c = 1\n  return b\nc = 2.0\nf()", error=UnknownName)


def test_rule_05_grad_without_a_path_is_zeros_and_a_warning(ask):
    answer = ask.answer("grad(x*x, y)", {"x": 2, "y": X}, kind="evaluate")
    assert np.array_equal(answer.value, np.zeros(3))
    (notice,) = answer.warnings
    assert (notice.code, notice.node.line, notice.node.column) == ("no_path", 1, 1)


def test_rule_05_a_source_made_in_the_call_is_refused(ask):
    assert "assign it" in refused(ask, "grad(x[0]**2, x[0])", {"x": X}).hint
    refused(ask, "grad(x[0]**2, [x, x[0]])", {"x": X})
    assert ask.value("y = x[0]\ngrad(y**2, y)", {"x": X}) == 2


def test_rule_05_structures_and_pairs(ask):
    got = ask.value("grad(x*y, {'a': x, 'b': (y, [x])})", {"x": 2, "y": 5})
    assert got == {"a": 5, "b": [2, [5]]}
    assert ask.value("value_and_grad(x**2, x)", {"x": 3}) == [9, 6]
    assert np.array_equal(ask.value("grad(x*x, x)", {"x": X}), 2 * X)


@cases("text, expected")
def test_rule_05_grad_of_a_function_is_a_function(ask, text, expected):
    assert ask.value(text, {"x": 2}) == pytest.approx(expected)


@pytest.mark.parametrize(
    "text", ["grad(x)", "grad()", "grad(x, 2)", "grad(x, 'x')", "grad(grad)(x)"]
)
def test_rule_05_what_grad_cannot_take(ask, text):
    refused(ask, text, {"x": 1}, error=EngineError)


@pytest.mark.parametrize(
    "text",
    [
        "range(n)",
        "s = 0.0\nfor i in range(n):\n  s += x[0]",
        "x[n]",
        "x[:n]",
        "arange(n)",
        "zeros(n)",
        "zeros((n, 2))",
        "zeros(n + 1)",
        "sum(m, axis=n)",
        "x.reshape(n, 1)",
        "m.sum(axis=n)",
    ],
)
def test_rule_06_a_float_as_a_count_says_what_to_send(ask, text):
    hint = refused(ask, text, {"n": 3, "x": X, "m": M}).hint
    assert 'send n as {"value": 3, "dtype": "int64"}' in hint


def test_rule_06_the_hint_names_nested_variables_and_no_wrong_ones(ask):
    assert "a.0.n as" in refused(ask, "zeros(a[0].n)", {"a": [{"n": 2}]}).hint
    assert "round" in refused(ask, "zeros(n)", {"n": 2.5}).hint
    assert refused(ask, "zeros(x)", {"x": X}).hint is None


def test_rule_06_integer_variables_set_shapes_axes_and_counts(ask):
    n = np.int64(2)
    assert ask.value("zeros((n, 2)).shape", {"n": n}) == [2, 2]
    assert np.array_equal(ask.value("sum(m, axis=n - 1)", {"n": n, "m": M}), [3, 12])
    assert np.array_equal(ask.value("x[:n]", {"n": n, "x": X}), [1, 2])
    assert ask.value("x[n]", {"n": n, "x": X}) == 3
    assert ask.value("s = x\nfor i in range(n):\n  s = s*s\ns", {"n": n, "x": 2}) == 16
    assert np.array_equal(
        ask.value("x.reshape((s[0], -1))", {"s": np.array([3, 1]), "x": X}), X[:, None]
    )
    for count in (0, 1, 5, 2):
        assert ask.value("sum(ones(n))", {"n": np.int64(count)}) == count


def test_rule_06_integers_from_shapes_are_pythons(ask):
    assert ask.value("n = x.shape[0]\nn/2 + len(x)//2 + x.size + m.ndim", {"x": X, "m": M}) == 7.5
    assert ask.value("int(x[1]) + int(2.7) + int(n)", {"x": X, "n": np.int64(4)}) == 8
    refused(ask, "int(x)", {"x": X})
    refused(ask, "int(inf)")


def test_rule_07_lists_concatenate_append_and_index(ask):
    assert ask.value("a = [1, x]\nb = a + [3]\nb", {"x": 2}) == [1, 2, 3]
    assert ask.value("a = [1]\nb = a\nb.append(2)\nb += [3]\n[len(a), len(b)]") == [1, 3]
    assert ask.value(
        "def f(l):\n  l.append(1)\n  return l\na = [0]\nb = f(a)\n[len(a), len(b)]"
    ) == [1, 2]
    assert ask.value("a = [1, 2, 3]\n[a[-1], a[i], len(a[1:])]", {"i": np.int64(0)}) == [3, 1, 2]
    assert np.array_equal(ask.value("[i*x for i in range(4) if i != 2]", {"x": 2}), [0, 2, 6])
    assert "out of range" in refused(ask, "[1, 2][2]").message


@pytest.mark.parametrize(
    "text",
    [
        "{k: 2*v for k, v in p.items()}",
        "{k: v for k, v in p.items() if k != 'b'}",
        "{k: v for k, v in zip(['u', 'v', 'u'], [a, 2.0, 3.0])}",
        "dict(p)",
        "dict(p, b=a, c=0.5)",
        "dict([('u', a), ['v', 1.0]])",
        "dict(a=a, b=dict())",
    ],
)
def test_rule_07_dicts_are_made_as_in_python(ask, text):
    variables = {"p": {"a": 1.0, "b": 2.0}, "a": 5.0}
    expected = eval(text, dict(variables))
    found = ask.value(text, variables)
    assert (found, list(found)) == (expected, list(expected))


@pytest.mark.parametrize(
    "text", ["{1: i for i in x}", "dict([x])", "dict(['ab'])", "dict([('a',)])", "dict(2)"]
)
def test_rule_07_dicts_have_strings_as_keys(ask, text):
    refused(ask, text, {"x": X})


@pytest.mark.parametrize(
    "text",
    [
        "[1, 2][::0]",
        "[1, 2][0.5]",
        "[1, 2]['a']",
        "[1, 2][0, 1]",
        "(1, 2)[x]",
        "[1, 2].w",
        "a, b = 3",
    ],
)
def test_rule_07_what_lists_cannot_do(ask, text):
    refused(ask, text, {"x": X})


@pytest.mark.parametrize(
    "text",
    [
        "max()",
        "power(2)",
        "add(1, 2, 3)",
        "max(x, foo=1)",
        "max(x, name=3)",
        "where(x, 1)",
        "sum()",
        "x.sum(1, 2, 3, 4, 5, 6)",
    ],
)
def test_rule_03_wrong_arguments_are_named(ask, text):
    refused(ask, text, {"x": X})


def test_rule_07_lists_stack_where_an_array_is_needed(ask):
    assert np.array_equal(ask.value("[x, 2*x]*2", {"x": X}), [2 * X, 4 * X])
    assert np.array_equal(ask.value("[[1, x], [y, 4]] @ [1, 1]", {"x": 2, "y": 3}), [3, 7])
    assert np.array_equal(
        ask.gradients("sum([x, y]*[1, 2])", {"x": 2, "y": 3}, sources=["x", "y"]), [1, 2]
    )
    refused(ask, "[[1, x], [y]] + 1", {"x": 2, "y": 3}, error=ShapeMismatch)


@cases("iterable, item, expected")
def test_rule_07_what_loops_run_over(ask, iterable, item, expected):
    variables = {"x": X, "m": M, "ws": [{"w": 1}, {"w": 2}]}
    text = f"s = 0.0\nfor i in {iterable}:\n  s = s + {item}\ns"
    assert np.array_equal(ask.value(text, variables), expected)


def test_rule_07_unpacking_goes_along_the_first_axis(ask):
    assert np.array_equal(ask.value("a, b = m\na - b", {"m": M}), [-3, -3, -3])
    assert ask.value("(a, [b, c]), d = [1, x[1:]], 4\na + b*c + d", {"x": X}) == 11
    assert "2 names for 3 items" in refused(ask, "a, b = x\na", {"x": X}).message
    refused(ask, "a, b = n\na", {"n": 1})


def test_rule_08_an_element_assigned_makes_another_value(ask):
    text = "y = 2*x\nz = y\ny[1] = 7\ny[2:] += 1\n[y, z]"
    y, z = ask.value(text, {"x": X})
    assert np.array_equal(y, [2, 7, 7])
    assert np.array_equal(z, [2, 4, 6])
    assert np.array_equal(ask.gradients("y = 2*x\ny[1] = 7*x[0]\nsum(y)", {"x": X})["x"], [9, 0, 2])


def test_rule_08_an_alias_of_a_variable_is_local(ask):
    answer = ask.answer("y = x\ny[0] = 9\n[x, y]", {"x": X}, kind="evaluate")
    assert np.array_equal(answer.value, [[1, 2, 3], [9, 2, 3]])
    assert answer.updates == {}


def test_rule_08_on_a_variable_it_is_its_state(ask):
    for text in ("x[0] = 9\nx", "def f():\n  x[0] = 9\nf()\nx"):
        answer = ask.answer(text, {"x": X}, kind="evaluate")
        assert np.array_equal(answer.updates["x"], [9, 2, 3])
    assert np.array_equal(
        ask.value("def f(x):\n  x[0] = 9\n  return x\nf(x) + x", {"x": X}), [10, 4, 6]
    )


def test_rule_08_masks_and_arrays_of_indices(ask):
    assert np.array_equal(ask.value("y = 1*x\ny[y > 1] = 0\ny", {"x": X}), [1, 0, 0])
    assert np.array_equal(
        ask.value("m[..., k]", {"m": M, "k": np.array([True, False, True])}), M[..., [0, 2]]
    )
    assert np.array_equal(
        ask.value("m[None, ..., k]", {"m": M, "k": np.array([True, False, True])}),
        M[None, :, [0, 2]],
    )
    assert np.array_equal(ask.value("m[m > 2]", {"m": M}), [3, 4, 5])
    assert np.array_equal(
        ask.value("t[..., k, 0]", {"t": M.reshape(1, 2, 3), "k": np.array([True, False])}), [[0]]
    )


@cases("text, expected")
def test_rule_09_jumps_are_recorded_as_executed(ask, text, expected):
    assert ask.value(text, {"x": 1}) == expected


def test_rule_10_functions_are_passed_and_bound(ask):
    assert ask.value("def f(g, a):\n  return g(g(a))\nf(lambda t: t*t, x)", {"x": 2}) == 16
    assert ask.value("g = sin\ng(x)", {"x": 2}) == np.sin(2)
    assert ask.value("fs = [sin, lambda t: t + 1]\nfs[1](x)", {"x": 2}) == 3
    assert (
        ask.value(
            "def outer(a):\n  def inner(b):\n    return a*b\n  return inner\nouter(3)(x)", {"x": 2}
        )
        == 6
    )


@pytest.mark.parametrize(
    "text", ["sin", "lambda t: t", "def f(): return 1\nf", "[x, sin]", "stack([x, sin])"]
)
def test_rule_10_functions_are_no_values_of_arrays(ask, text):
    refused(ask, text, {"x": 1})


@pytest.mark.parametrize("text", ["(x > 1) & (x < 3)", "1 < x < 3", "~((x <= 1) | (x >= 3))"])
def test_rule_11_elementwise_logic(ask, text):
    assert ask.value(text, {"x": X}).tolist() == [False, True, False]


def test_rule_11_integers_and_bits(ask):
    n = {"n": np.array([5, 6])}
    assert ask.value("[n & 3, n | 1, n ^ 1, ~n, n << 2, n >> 1]", n)[3].tolist() == [-6, -7]
    assert ask.value("[6 & 3, 6 | 1, 6 ^ 1, ~6, 6 << 2, 6 >> 1]") == [2, 7, 7, -7, 24, 3]


@pytest.mark.parametrize(
    "text",
    [
        "x > 1 and x < 3",
        "x or x",
        "not x",
        "1 if x else 2",
        "if x > 1:\n  y = 1\ny",
        "while x:\n  y = 1\ny",
    ],
)
def test_rule_11_decisions_need_one_element(ask, text):
    error = refused(ask, text, {"x": X})
    assert "&" in error.hint
    assert "where" in error.hint


def test_rule_11_connectives_give_operands_as_pythons(ask):
    assert ask.value("x and 2*x", {"x": 3}) == 6
    assert ask.value("x or 2", {"x": 0}) == 2
    assert ask.value("x == 0 or 1/x > 0", {"x": 0}) == True  # noqa: E712


def test_rule_13_literals_become_arrays_in_the_first_pass(ask):
    assert np.array_equal(ask.value("s = 0.0\nfor i in range(3):\n  s = s + x\ns", {"x": X}), 3 * X)
    assert (
        ask.value("s = 0.0\nfor v in x:\n  s = s + v\ns", {"x": np.array([1, 2], np.float32)}).dtype
        == "float32"
    )


def test_rule_13_shapes_may_change_on_every_pass(ask):
    text = "y = x\nfor i in range(3):\n  y = concatenate([y, y])\ny.shape[0]"
    assert ask.value(text, {"x": X}) == 24


@cases("text, expected")
def test_rule_14_default_output(ask, text, expected):
    assert ask.value(text, {"x": 1}) == expected


@pytest.mark.parametrize(
    "text", ["", "# only a comment", "pass", "def f():\n  return 1", "x.assign(2)", "'doc'"]
)
def test_rule_14_nothing_to_return(ask, text):
    error = refused(ask, text, {"x": 1}, error=EngineError)
    assert error.at.line is not None


def test_rule_14_an_assignment_never_run_is_an_error_with_a_place(ask):
    error = refused(ask, "if x > 5:\n  y = 1", {"x": 1}, error=UnknownName)
    assert error.at.line == 1


def test_rule_15_members_may_have_any_name(ask):
    variables = {"p": {"T": 1, "shape": 2, "value": 3, "sum": 4, "dtype": [5, 6]}, "value": 7}
    text = "p.T + p.shape + p.value + p.sum + p.dtype[1] + value"
    assert ask.value(text, variables) == 23
    assert ask.gradients(text, variables)["p"]["T"] == 1


def test_rule_15_levels_have_members_and_arrays_attributes(ask):
    refused(ask, "p.q", {"p": {"w": 1}}, error=UnknownName)
    refused(ask, "p.shape", {"p": {"w": 1}}, error=UnknownName)
    refused(ask, "x.w", {"x": 1})
    assert ask.value("[x.shape, x.ndim, x.size, x.T.shape]", {"x": M}) == [[2, 3], 2, 6, [3, 2]]


def test_rule_15_dotted_keys_are_paths(ask):
    variables = {"a.value": X, "a.b.ref": 2, "a": {"c": 3, "d.e": 4}}
    assert np.array_equal(ask.value("a.value*a.b.ref + a.c + a.d.e", variables), 2 * X + 7)
    got = ask.gradients("sum(a.value)*a.d.e", variables)
    assert list(got) == ["a.value", "a.b.ref", "a"]
    assert list(got["a"]) == ["c", "d.e"]
    assert got["a"]["d.e"] == 6
    for clash in ({"a": 1, "a.b": 2}, {"a.b": 2, "a": 1}, {"a": {"b.c": 1, "b": {"c": 2}}}):
        with pytest.raises(InputError, match="name already"):
            ask.value("1", clash)


def test_rule_16_sources_omitted_are_the_structure_of_variables(ask):
    from gradwire_engine import Leaf

    variables = {
        "x": 3,
        "layers": [{"w": X, "frozen": Leaf(np.array(2.0), trainable=False)}, {}],
        "n": np.int64(2),
        "name": "text",
        "flag": True,
    }
    answer = ask.answer("x*sum(layers[0].w)*layers[0].frozen*n", variables)
    expected = {"x": 24, "layers": [{"w": [12, 12, 12], "frozen": None}, {}]}
    expected |= {"n": None, "name": None, "flag": None}
    answer.gradients["layers"][0]["w"] = answer.gradients["layers"][0]["w"].tolist()
    assert answer.gradients == expected
    assert {path: why.reason for path, why in answer.unconnected.items()} == {
        "layers.0.frozen": "not_trainable",
        "n": "integer_dtype",
        "name": "string_dtype",
        "flag": "boolean_dtype",
    }


@cases("text, expected")
def test_rule_17_static_arithmetic_is_pythons(ask, text, expected):
    assert ask.value(text) == expected


def test_rule_17_arrays_follow_numpy(ask):
    n = {"n": np.array([7, -7], np.int32)}
    assert ask.value("n//2", n).tolist() == [3, -4]
    assert ask.value("n/2", n).dtype == "float64"
    assert ask.value("n + 1", n).dtype == "int32"
    assert ask.value("n + 1.0", n).dtype == "float64"
    assert ask.value("x*2", {"x": np.float32(1)}).dtype == "float32"


def test_rule_17_a_literal_beyond_the_dtype_is_infinite(ask):
    assert ask.value("x*1e300", {"x": np.float32(2)}) == np.inf


@pytest.mark.parametrize("dtype", ["'float32'", "np.float32", "float32", "jnp.float32", "y.dtype"])
@pytest.mark.parametrize("text", ["x.astype({})", "astype(x, {})", "zeros(2, dtype={})"])
def test_rule_17_dtypes_by_name_and_by_string(ask, text, dtype):
    assert ask.value(text.format(dtype), {"x": X, "y": np.float32(1)}).dtype == "float32"


def test_rule_17_pythons_types_name_dtypes(ask):
    assert ask.value("x.astype(int)", {"x": X}).dtype == "int64"
    assert ask.value("x.astype(bool)", {"x": X}).dtype == "bool"


@pytest.mark.thorough
@pytest.mark.parametrize(
    "text",
    [
        "9**9**9",
        "1 << 10**9",
        "2**64",
        "[i for i in range(10**12)]",
        "list(range(10**12))",
        "enumerate(range(10**12))",
        "zip(range(10**12))",
        "sum(range(10**12))",
        "len(range(2**63))",
        "zeros(10**12)",
        "ones((10**6, 10**6))",
        "l = [1]\nfor i in range(100):\n  l = l + l\nl",
        "l = [x]\nfor i in range(40):\n  l = [l, l]\nl",
        "l = [x]\nfor i in range(40):\n  l = [l, l]\ngrad(l, x)",
        "l = [1.0]\nfor i in range(40):\n  l = [l, l]\nl + 1",
        "l = [x]\nfor i in range(5000):\n  l = [l]\nl",
        "def f(n):\n  return f(n + 1)\nf(0)",
        "def f(n):\n  return f(n - 1) + f(n - 1) if n > 0 else x\nf(40)",
        "s = x\nwhile True:\n  s = s + 1",
    ],
)
def test_bombs_are_refused_while_recording(ask_within, text):
    refused(ask_within(instructions=5_000), text, {"x": 1}, error=EngineError)

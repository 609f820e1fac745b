"""Compares the results of `gradwire.tf` for a snippet with those of TensorFlow.

A snippet agrees when every entry of what was expected is met: ``value``, ``gradients`` and
``checks`` by structure, shape, dtype and number, an ``error`` by an exception of the same class
name, or of another class whose message holds the expected text. Where our conventions recommend
another answer, that agrees too (and where TensorFlow's is known to be wrong, only that).
"""

import math
import re
import traceback
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import gradwire
import numpy as np
from gradwire import tf
from gradwire.tf.fetching import fetch

INTERNAL = {
    "AttributeError",
    "NameError",
    "ImportError",
    "ModuleNotFoundError",
    "KeyError",
    "NotImplementedError",
    "AssertionError",
    "InternalError",
    "InternalServerError",
    "ConnectError",
    "ConnectionError",
}
REFERENTS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}

#: A number with decimals in a text.
_NUMBER = re.compile(r"-?\d+\.\d+")


def run(case: dict[str, Any], source: str) -> tuple[dict[str, Any], Exception | None]:
    """What the case's snippet leaves when it runs as the file ``source``, and what it raises."""
    space: dict[str, Any] = {"__name__": "case"}
    try:
        exec(compile(ours(case["tf_code"]), source, "exec"), space)
    except Exception as error:  # noqa: BLE001
        return space, error
    return space, None


def ask(spaces: Iterable[dict[str, Any]]) -> None:
    """Compute the results of snippets by one request; where that fails, each is asked by itself."""
    tensors = [part for space in spaces for part in tf.nest.flatten(space.get("out") or {})]
    with suppress(gradwire.GradwireError, ValueError, tf.errors.OpError):
        fetch([part._node for part in tensors if isinstance(part, tf.Tensor)])


def disagreement(
    case: dict[str, Any], space: dict[str, Any], raised: Exception | None
) -> str | None:
    """The first difference of what a case's snippet has left and raised, or None."""
    expect, recommended = case["expect"], case.get("recommended", {})
    if "error" in expect:
        return _other_error(raised, expect["error"], recommended)
    if raised is not None:
        refused = str(recommended.get("gradients", "")).startswith("error")
        if refused and type(raised).__name__ not in INTERNAL:
            return None
        place = traceback.extract_tb(raised.__traceback__)[-1]
        return f"{type(raised).__name__}: {raised} ({place.filename}:{place.lineno})"
    out = space.get("out") or {}
    want = {key: expect[key] for key in ("value", "gradients", "checks") if key in expect}
    found = _differs({key: out.get(key) for key in want}, want, case, "out")
    if recommended.get("gradients") is not None and (found or recommended["kind"] == "tf-bug"):
        alternative = _loosely(out.get("gradients"), recommended["gradients"])
        return None if alternative is None else found or alternative
    return found


def ours(code: str) -> str:
    """The snippet with Gradwire's names imported in place of TensorFlow's."""
    return re.sub(r"^(from|import) tensorflow\b", r"\1 gradwire.tf", code, flags=re.MULTILINE)


def _other_error(
    raised: Exception | None, want: dict[str, Any], recommended: dict[str, Any]
) -> str | None:
    if raised is None:
        allowed = recommended and recommended["kind"] != "tf-bug"
        return None if allowed else f"no error, but expected {want['class']}: {want['match']}"
    names = {base.__name__ for base in type(raised).__mro__}
    if want["class"] in names or (want["match"] or "\0") in str(raised):
        return None
    return f"{type(raised).__name__}: {raised} is not {want['class']}: {want['match']}"


def _numbers(values: Any) -> Any:
    if isinstance(values, list):
        return [_numbers(value) for value in values]
    return REFERENTS.get(values, values) if isinstance(values, str) else values


def _dense(tensor: Any) -> tuple[Any, str]:
    """Any tensor-like as an array, and its dtype's name."""
    if hasattr(tensor, "dense_shape") and not callable(getattr(tensor, "values", None)):
        raise TypeError("indexed slices")
    array = np.asarray(tensor.numpy() if hasattr(tensor, "numpy") else tensor)
    dtype = getattr(tensor, "dtype", array.dtype)
    name = getattr(dtype, "name", None) or str(dtype)
    return array, name.replace("tf.", "").replace("<dtype: '", "").rstrip("'>").lower()


def _array_differs(got: Any, want: dict[str, Any], case: dict[str, Any], at: str) -> str | None:
    array, name = _dense(got)
    dtype, shape, value = want["dtype"], want["shape"], _numbers(want["value"])
    if dtype == "string":
        texts = [
            text.decode() if isinstance(text, bytes) else str(text)
            for text in np.asarray(array, dtype=object).ravel().tolist()
        ]
        expected = np.asarray(value, dtype=object).ravel().tolist()
        return None if texts == expected else f"{at}: {texts} is not {expected}"
    if list(array.shape) != shape:
        return f"{at}: shape {list(array.shape)} is not {shape}"

    def wrong() -> str:
        return f"{at}: {array.tolist()} is not {value}"

    if dtype.startswith("complex"):
        pairs = np.asarray(value, float).reshape((*shape, 2))
        numbers = pairs[..., 0] + 1j * pairs[..., 1]
    elif "float" in dtype:
        numbers = np.asarray(value, float).reshape(shape)
    else:
        numbers = np.asarray(value).reshape(shape)
        return None if np.array_equal(np.asarray(array, numbers.dtype), numbers) else wrong()
    if not np.allclose(
        np.asarray(array, numbers.dtype),
        numbers,
        rtol=case["rtol"],
        atol=case["atol"],
        equal_nan=True,
    ):
        return wrong()
    return None if name == dtype else f"{at}: dtype {name} is not {dtype}"


def _first(differences: Iterable[str | None]) -> str | None:
    return next((difference for difference in differences if difference), None)


def _reads_alike(got: Any, want: Any, case: dict[str, Any]) -> bool:
    """Whether two texts are equal but for the rounding of numbers that are printed in them."""
    if not (isinstance(got, str) and isinstance(want, str)):
        return False
    if _NUMBER.sub("", got) != _NUMBER.sub("", want):
        return False
    pairs = zip(_NUMBER.findall(got), _NUMBER.findall(want), strict=True)
    return all(
        len(one) == len(other)
        and np.isclose(
            float(one),
            float(other),
            rtol=case["rtol"],
            atol=1.01 * 0.1 ** len(other.partition(".")[2]),
        )
        for one, other in pairs
    )


def _differs(got: Any, want: Any, case: dict[str, Any], at: str) -> str | None:
    """The first difference, or None."""

    def wrong() -> str:
        return f"{at}: {str(got)[:80]} is not {want}"

    if want is None:
        return None if got is None else wrong()
    if isinstance(want, bool | str):
        named = (
            isinstance(want, str)
            and want in REFERENTS
            and np.array_equal(float(got), REFERENTS[want], equal_nan=True)
        )
        return None if named or got == want or _reads_alike(got, want, case) else wrong()
    if isinstance(want, int | float):
        number = np.asarray(got.numpy() if hasattr(got, "numpy") else got)
        close = number.shape == () and np.isclose(
            float(number), want, rtol=case["rtol"], atol=case["atol"]
        )
        return None if close else wrong()
    if isinstance(want, dict) and len(want) == 1:
        ((kind, content),) = want.items()
        if kind in KINDS:
            return "None" if got is None else KINDS[kind](got, content, case, at)
    if isinstance(want, list):
        return _sequence_differs(got, want, case, at)
    if not isinstance(got, dict) or sorted(map(str, got)) != sorted(want):
        return wrong()
    named_got = {str(key): value for key, value in got.items()}
    return _first(_differs(named_got[key], want[key], case, f"{at}.{key}") for key in want)


def _sequence_differs(got: Any, want: list[Any], case: dict[str, Any], at: str) -> str | None:
    if hasattr(got, "numpy"):
        got = np.asarray(got.numpy()).tolist()
    if not isinstance(got, list | tuple) or len(got) != len(want):
        return f"{at}: {str(got)[:80]} is not a sequence of {len(want)}"
    return _first(
        _differs(item, wanted, case, f"{at}[{i}]")
        for i, (item, wanted) in enumerate(zip(got, want, strict=True))
    )


def _tensor_differs(got: Any, want: Any, case: dict[str, Any], at: str) -> str | None:
    if hasattr(got, "dense_shape") or (hasattr(got, "indices") and hasattr(got, "values")):
        return f"{at}: sparse, not dense"
    return _array_differs(got, want, case, at)


def _slices_differ(got: Any, want: Any, case: dict[str, Any], at: str) -> str | None:
    if not hasattr(got, "indices"):
        return f"{at}: not indexed slices"
    if differs := _array_differs(got.values, want["values"], case, f"{at}.values"):
        return differs
    indices = _dense(got.indices)[0].tolist()
    if indices != want["indices"]:
        return f"{at}: indices {indices}"
    shape = None if got.dense_shape is None else _dense(got.dense_shape)[0].tolist()
    return None if shape == want["dense_shape"] else f"{at}: dense_shape {shape}"


def _ragged_differs(got: Any, want: Any, case: dict[str, Any], at: str) -> str | None:
    rows = got.to_list() if hasattr(got, "to_list") else got
    ours, theirs = _flat(rows), _flat(want["value"])
    close = len(ours) == len(theirs) and np.allclose(
        ours, theirs, rtol=case["rtol"], atol=case["atol"]
    )
    return None if close else f"{at}: {rows}"


def _flat(rows: Any) -> list[Any]:
    return [value for row in rows for value in _flat(row)] if isinstance(rows, list) else [rows]


def _sparse_differs(got: Any, want: Any, case: dict[str, Any], at: str) -> str | None:
    return _array_differs(got.values, want["values"], case, f"{at}.values")


KINDS = {
    "$tensor": _tensor_differs,
    "$indexed_slices": _slices_differ,
    "$ragged": _ragged_differs,
    "$sparse": _sparse_differs,
    "$tuple": _sequence_differs,
}


def _loosely(got: Any, want: Any) -> str | None:
    """The difference from a recommended answer, which has no dtypes."""
    if want is None or want == "any":
        return None if want == "any" or got is None else "not None"
    if isinstance(want, str):
        return f"not {want}"
    if isinstance(want, dict):
        return _first(_loosely((got or {}).get(key), want[key]) for key in want)
    nested = isinstance(want, list) and any(isinstance(item, list | None) for item in want)
    if nested and isinstance(got, list | tuple):
        return _first(_loosely(g, w) for g, w in zip(got, want, strict=False))
    close = got is not None and np.allclose(
        _dense(got)[0], np.asarray(_numbers(want), float), rtol=1e-4, atol=1e-5, equal_nan=True
    )
    return None if close else f"{str(got)[:80]} is not {want}"

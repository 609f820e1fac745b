"""Special functions of several arguments, quantiles and laws of counts beside recorded truths.

``tools/special_truths.py`` says what is recorded. The tolerance is some units of rounding times
the condition of each number.
"""

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

from tests.tables import table

HERE = Path(__file__).parent / "truths"
READ = {
    name: json.loads((HERE / f"{name}.json").read_text(encoding="utf-8"))
    for name in ("special", "laws", "between")
}
TRUTHS = READ["special"] | READ["laws"]
for text, entry in READ["between"].items():
    TRUTHS[text]["rows"] += entry["rows"]
EPS = 2.0**-52
#: Relative errors of values, slopes and second derivatives, besides those of the condition.
RELATIVE = 1000 * EPS, 1e-9, 1e-7
#: The same by names: SciPy's have fewer digits, or derivatives are differences of larger numbers.
COARSE = {
    "hyp1f1|kve|beta\\(|binom\\(x": (1e-12, 2e-6, 1e-5),
    "hyp2f1": (1e-8, 1e-7, 1e-6),
    "beta(inc)?c?inv|stats.beta.|fdtr": (1e-11, 1e-7, 1e-5),
}
#: Of these, derivatives cancel to some units of rounding of the value.
CANCELLING = "stats.(beta|n?)bin|n?bdtr|fdtr|gamma|chi2"
UNITS = 128
#: Conditions from this power of 2 on leave no digits, and numbers below this may underflow.
LARGEST_CONDITION, SMALLEST = 40, 1e-300
#: Numbers that are finite, but of which the answer is NaN or infinite, hence a warning.
WARNED = table(__file__, "WARNED")


def program(text: str, places: range) -> str:
    lines = [f"y = {text.strip()}", *[f"d{i} = grad(sum(y), x{i})" for i in places]]
    slopes = "".join(f", d{i}, grad(sum(d{i}), x{i})" for i in places)
    return "\n".join([*lines, f"[y{slopes}]"])


def bound(text: str, want: float, condition: int, value: float, x: float, order: int) -> float:
    relative = next((r for names, r in COARSE.items() if re.search(names, text)), RELATIVE)[order]
    found = (relative + 1000 * EPS * 2.0**condition) * abs(want) + SMALLEST
    size = max(abs(value), 1) if ".log" in text else abs(value)
    unit = size / abs(x or 1) ** min(order, 1) / abs(x or 1) ** max(order - 1, 0)
    if re.search(CANCELLING, text):
        return found + UNITS * EPS * unit
    return found if want else found + 1e-12 * unit


@pytest.mark.parametrize("text", TRUTHS)
def test_nothing_is_wrong(ask, text):
    held, rows = TRUTHS[text]["held"], TRUTHS[text]["rows"]
    count = len({*re.findall(r"x\d", text)})
    places = range(held, count)
    known = 1 + 2 * len(places)
    given = np.array([row[:count] for row in rows], float).T
    last = np.tile(given[:, -1:], count)
    np.fill_diagonal(last, np.nan)
    columns = np.hstack([given, last])
    answer = ask.value(program(text, places), {f"x{i}": x for i, x in enumerate(columns)})
    found = np.array([np.broadcast_to(z, columns.shape[1]) for z in answer])
    of_nan, without = found[:, len(rows) :], found[:, [len(rows) - 1]]
    assert (np.isnan(of_nan) | (of_nan == without)).all()
    warned, wrong = 0, []
    for i, row in enumerate(rows):
        wanted, conditions = row[count:][:known], row[count + known :]
        for j, (want, condition) in enumerate(zip(wanted, conditions, strict=True)):
            got, order = float(found[j, i]), (j + 1) % 2 + 1 if j else 0
            x = row[held + (j - 1) // 2] if j else 1.0
            if want is None or condition >= LARGEST_CONDITION or got == want:
                continue
            if not math.isfinite(got):
                warned += abs(want) < 1e307
            elif math.isinf(want):
                if abs(got) < 1e300 or got * want < 0:
                    wrong.append((row[:count], j, got, want))
            elif abs(got - want) > bound(text, want, condition, wanted[0], x, order):
                wrong.append((row[:count], j, got, want))
    assert not wrong
    assert warned <= WARNED.get(text, 0)

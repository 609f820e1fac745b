"""Every function of the catalogue with a real parameter is measured, where it has a derivative."""

import numpy as np
import parameters

FUNCTIONS = {function.name: function for function in parameters.sampled(3)}


def test_functions_and_laws_are_the_catalogues():
    named = {name for names in parameters.SPECIAL for name in names.split()}
    assert named < FUNCTIONS.keys()
    laws = {name.split(".")[2] for name in FUNCTIONS if name.startswith("scipy.stats.")}
    assert laws == parameters.SHAPES.keys()
    assert [*FUNCTIONS["scipy.stats.t.ppf"].values] == ["q", "df"]


def test_a_derivative_takes_time_and_none_has_no_row():
    rows = parameters.measured(FUNCTIONS["nbdtr"], rounds=1)
    assert [row.what for row in rows] == ["nbdtr, n", "nbdtr, p"]  # k is rounded
    assert all(np.isfinite(row.figure) and row.figure > 0 < row.reference for row in rows)

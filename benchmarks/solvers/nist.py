"""The data sets for nonlinear regression of NIST's Statistical Reference Datasets.

``nist.json`` has their observations, both starts, and the certified parameters, standard deviations
and residual sums of squares, in all published digits.

Source: https://www.itl.nist.gov/div898/strd/nls/nls_main.shtml (public domain).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from solvers.problems import Problem

_DECAY = "p1*(1 - exp(-p2*t))"
_BUMPS = "p1*exp(-p2*t) + p3*exp(-(t - p4)**2/p5**2) + p6*exp(-(t - p7)**2/p8**2)"
_EXPONENTIALS = "p1*exp(-p2*t) + p3*exp(-p4*t) + p5*exp(-p6*t)"
_CHWIRUT = "exp(-p1*t)/(p2 + p3*t)"
_CUBICS = "(p1 + p2*t + p3*t**2 + p4*t**3)/(1 + p5*t + p6*t**2 + p7*t**3)"
#: The models of ``y``, of parameters ``p1``, ``p2``, … and the predictor ``t``, or ``t`` and ``u``.
MODELS: Mapping[str, str] = {
    "Misra1a": _DECAY,
    "Chwirut2": _CHWIRUT,
    "Chwirut1": _CHWIRUT,
    "Lanczos3": _EXPONENTIALS,
    "Gauss1": _BUMPS,
    "Gauss2": _BUMPS,
    "DanWood": "p1*t**p2",
    "Misra1b": "p1*(1 - (1 + p2*t/2)**-2)",
    "Kirby2": "(p1 + p2*t + p3*t**2)/(1 + p4*t + p5*t**2)",
    "Hahn1": _CUBICS,
    "Nelson": "p1 - p2*t*exp(-p3*u)",
    "MGH17": "p1 + p2*exp(-p4*t) + p3*exp(-p5*t)",
    "Lanczos1": _EXPONENTIALS,
    "Lanczos2": _EXPONENTIALS,
    "Gauss3": _BUMPS,
    "Misra1c": "p1*(1 - (1 + 2*p2*t)**-0.5)",
    "Misra1d": "p1*p2*t/(1 + p2*t)",
    "Roszman1": "p1 - p2*t - arctan(p3/(t - p4))/pi",
    "ENSO": "p1 + p2*cos(2*pi*t/12) + p3*sin(2*pi*t/12)"
    " + p5*cos(2*pi*t/p4) + p6*sin(2*pi*t/p4) + p8*cos(2*pi*t/p7) + p9*sin(2*pi*t/p7)",
    "MGH09": "p1*(t**2 + t*p2)/(t**2 + t*p3 + p4)",
    "Thurber": _CUBICS,
    "BoxBOD": _DECAY,
    "Rat42": "p1/(1 + exp(p2 - p3*t))",
    "MGH10": "p1*exp(p2/(t + p3))",
    "Eckerle4": "p1/p2*exp(-0.5*((t - p3)/p2)**2)",
    "Rat43": "p1/(1 + exp(p2 - p3*t))**(1/p4)",
    "Bennett5": "p1*(p2 + t)**(-1/p3)",
}


@cache
def published() -> Mapping[str, Mapping[str, Any]]:
    """What is published, by the names of the data sets."""
    text = Path(__file__).with_name("nist.json").read_text("utf-8")
    found: Mapping[str, Mapping[str, Any]] = json.loads(text)
    return found


@cache
def problems() -> Sequence[Problem]:
    """Each data set from its first start, which is far, and from its second, which is near."""
    return [
        _problem(name, model, published()[name], number)
        for name, model in MODELS.items()
        for number in (1, 2)
    ]


def _problem(name: str, model: str, of: Mapping[str, Any], number: int) -> Problem:
    parameters = ", ".join(f"p{i}" for i in range(1, len(of["parameters"]) + 1))
    observed = "log(y)" if name == "Nelson" else "y"
    data = {column: of[column] for column in "ytu" if column in of}
    return Problem(
        name=f"{name}, start {number}",
        text=f"{parameters} = x\nr = {observed} - ({model})",
        start=of["starts"][number - 1],
        minima=[of["rss"]],
        form="squares",
        fixed=data,
        near=of["parameters"],
        parameters=of["parameters"],
    )

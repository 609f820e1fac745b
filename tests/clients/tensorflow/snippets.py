"""The corpus: TensorFlow snippets by subject, and TensorFlow's result for each.

``corpus/SUBJECT.txt`` holds the snippets, each below a line ``# case: id | rule | title``, and
``corpus/SUBJECT.json`` the answers by id, which ``record.py`` writes. Lines that begin with
``# tolerance:`` (relative, absolute) and ``# recommended:`` (what our conventions answer where
TensorFlow's answer is not to be followed) belong to the case above them.

A ``corpus/SUBJECT.table`` holds a probe on each line, ``id | order | expression | inputs``: the
value of an expression in x, y and z and its derivatives to that order, in float64 where the order
ends with a d, for inputs that semicolons separate; lines ``@name = values`` name inputs.
"""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CORPUS = Path(__file__).parent / "corpus"
HEADER = re.compile(r"^# case: (?P<id>\S+) \| (?P<rule>S\d+|-) \| ?(?P<title>.*)$", re.MULTILINE)
IMPORTS = {
    "": "import tensorflow as tf",
    "np.": "import numpy as np",
    "math.": "import math",
    "backprop.": "from tensorflow.python.eager import backprop",
    "collections.": "import collections",
    "functools.": "import functools",
}

ONCE = """\
with tf.GradientTape() as tape:
    tape.watch({sources})
    value = {expression}
out = {{'value': value, 'gradients': tape.gradient(value, {sources})}}"""
TWICE = """\
with tf.GradientTape() as outer:
    outer.watch({sources})
    with tf.GradientTape() as tape:
        tape.watch({sources})
        value = {expression}
    first = tape.gradient(value, {sources})
second = outer.gradient(first, {sources})
out = {{'value': value, 'gradients': {{'first': first, 'second': second}}}}"""


@dataclass(frozen=True)
class Snippet:
    """Code that ends with a dict ``out``, and the tolerances for its result."""

    id: str
    rule: str
    title: str
    code: str
    rtol: float = 1e-5
    atol: float = 1e-6
    recommended: dict[str, Any] = field(default_factory=dict)


def subjects() -> list[str]:
    """The names of the corpus' files."""
    return sorted(path.stem for path in CORPUS.glob("*.t*"))


def snippets(subject: str) -> list[Snippet]:
    """The snippets of one subject, in their order."""
    table = CORPUS / f"{subject}.table"
    if table.exists():
        lines = table.read_text().splitlines()
        named = dict(line.split(" = ", 1) for line in lines if line.startswith("@"))
        return [_probe(line, named) for line in lines if line and line[0] not in "#@"]
    text = (CORPUS / f"{subject}.txt").read_text()
    headers = list(HEADER.finditer(text))
    ends = [header.start() for header in headers[1:]] + [len(text)]
    return [
        _snippet(header, text[header.end() : end].strip("\n"))
        for header, end in zip(headers, ends, strict=True)
    ]


def _snippet(header: re.Match[str], body: str) -> Snippet:
    options: dict[str, Any] = {}
    while found := re.match(r"# (tolerance|recommended): (.*)\n", body):
        body = body[found.end() :]
        if found[1] == "tolerance":
            options["rtol"], options["atol"] = map(float, found[2].split())
        else:
            options["recommended"] = json.loads(found[2])
    return Snippet(header["id"], header["rule"], header["title"], _with_imports(body), **options)


def _probe(line: str, named: dict[str, str]) -> Snippet:
    name, order, expression, inputs = (part.strip() for part in line.split(" | "))
    values = [named.get(value.strip(), value.strip()) for value in inputs.split(" ; ")]
    watched = ", ".join("xyz"[: len(values)])
    sources = f"[{watched}]" if len(values) > 1 else watched
    dtype = "float64" if order.endswith("d") else "float32"
    code = [
        f"{source} = tf.constant({value}, tf.{dtype})"
        for source, value in zip("xyz", values, strict=False)
    ]
    template = TWICE if order.startswith("2") else ONCE
    code.append(template.format(sources=sources, expression=expression))
    return Snippet(name, "-", expression, _with_imports("\n".join(code)), 1e-4, 1e-5)


def _with_imports(body: str) -> str:
    needed = [
        line
        for name, line in IMPORTS.items()
        if line not in body and re.search(rf"(?<![\w.]){re.escape(name)}", body)
    ]
    return "\n".join([*needed, body, ""])


def answers(subject: str) -> dict[str, Any]:
    """TensorFlow's results, by the snippets' ids."""
    answered: dict[str, Any] = json.loads((CORPUS / f"{subject}.json").read_text())
    return answered


def cases(subject: str) -> list[dict[str, Any]]:
    """Snippets with their results, in the form of ``seed_cases.json``."""
    answered = answers(subject)
    return [
        {
            "id": snippet.id,
            "title": snippet.title,
            "spec": snippet.rule,
            "tf_code": snippet.code,
            "expect": answered[snippet.id],
            "rtol": snippet.rtol,
            "atol": snippet.atol,
        }
        | ({"recommended": snippet.recommended} if snippet.recommended else {})
        for snippet in snippets(subject)
        if snippet.id in answered
    ]

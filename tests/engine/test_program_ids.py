"""Programs keep their ids, whatever version of the service or of Python reads them."""

from __future__ import annotations

import json
import struct
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from gradwire_engine import Engine
from gradwire_engine.frontends.text import parse_text
from gradwire_engine.program import Block, Program, Writer
from hypothesis import given
from hypothesis import strategies as st

RECORDED = json.loads(
    (Path(__file__).parent / "data" / "program_ids.json").read_text(encoding="utf-8")
)
NODE_KINDS = (
    "literal load store call apply method attribute index slice list tuple dict and or choose "
    "function comprehension if while for stop_recording setitem return break continue"
).split()


def written(value: Any) -> bytes:
    """The bytes of a value in the form that ids are the digests of, by its definition."""
    match value:
        case None:
            return b"N"
        case bool():
            return b"T" if value else b"F"
        case int() if -(2**31) <= value < 2**31:
            return b"i" + struct.pack("<i", value)
        case int():
            digits, rest = [], abs(value)
            while rest:
                digits.append(rest & 0x7FFF)
                rest >>= 15
            count = len(digits) if value > 0 else -len(digits)
            return b"l" + struct.pack(f"<i{len(digits)}H", count, *digits)
        case float():
            return b"f" + decimal(value)
        case complex():
            return b"x" + decimal(value.real) + decimal(value.imag)
        case str():
            text = value.encode("utf-8", "surrogatepass")
            return b"u" + struct.pack("<I", len(text)) + text
        case tuple() | list():
            kind = b"(" if isinstance(value, tuple) else b"["
            return kind + struct.pack("<I", len(value)) + b"".join(map(written, value))
        case dict():
            items = [written(part) for item in value.items() for part in item]
            return b"{" + b"".join(items) + b"0"
    assert value is ...
    return b"."


def decimal(value: float) -> bytes:
    text = b"%.17g" % value
    return bytes([len(text)]) + text


def columns(block: Block) -> tuple[Any, ...]:
    nodes = block.nodes
    if not nodes:
        return ()
    within = [tuple(columns(inner) for inner in node.blocks) for node in nodes]
    return (
        tuple(node.kind for node in nodes),
        tuple(node.args for node in nodes),
        tuple(node.value for node in nodes),
        tuple(within) if any(within) else (),
    )


def digest(program: Program) -> str:
    return "sha256:" + sha256(written((columns(program.body), program.output))).hexdigest()


@pytest.mark.parametrize("number", range(len(RECORDED)))
def test_ids_are_those_of_record(number):
    program = Engine().parse(RECORDED[number]["program"])
    assert program.id == RECORDED[number]["id"]
    assert digest(program) == program.id


def test_every_kind_of_node_is_of_record():
    found: set[str] = set()
    blocks = [Engine().parse(entry["program"]).body for entry in RECORDED]
    while blocks:
        for node in blocks.pop().nodes:
            found.add(node.kind)
            blocks.extend(node.blocks)
    assert found == set(NODE_KINDS)


@pytest.mark.parametrize(
    "same",
    [
        [
            "z = x+y",
            "z=x + y  # why",
            "z = (x) + (y)",
            "'''why'''\n\nz = add(x, y)\n",
            "z = x + y;",
        ],
        ["x**2", "power(x, 2)", "((x))**(2)", "x ** 0b10"],
        ["f(x, a=1, b=2)", "f(x, b=2, a=1)"],
        ["x += 1\nx", "x = x + 1\nx"],
        ["def f(t): return t\nf(x)", "f = lambda t: t\nf(x)"],
        ["x[1:2]", "x[1:2:]", "x[1:2,]", "x[1:2:None]"],
        ["y = x\n(y)", "y = x\nreturn y", "y = x"],
    ],
)
def test_spelling_does_not_matter(same):
    assert len({parse_text(text).id for text in same}) == 1


def test_meaning_does():
    literals = "1 1.0 True 1j 0 0.0 -0.0 False None ... '' '1' 1e999 5000000000 5e9".split()
    ids = {parse_text(f"f(x, {literal})").id for literal in literals}
    assert len(ids) == len(literals)


def program_of(value: Any) -> Program:
    writer = Writer()
    writer.open()
    writer.write((1, 1), "literal", (), value)
    return Program(writer.close(), None, writer.positions)


LITERALS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-(2**40), 2**40)
    | st.floats()
    | st.complex_numbers()
    | st.text(st.characters())
    | st.text(st.characters(categories=["Cs"]))
    | st.just(...)
)


@given(LITERALS, LITERALS)
def test_literals_have_one_form_each(one, two):
    first, second = program_of(one), program_of(two)
    assert first.id == digest(first)
    assert (first.id == second.id) is (written(one) == written(two))
    assert (written(one) == written(two)) is (type(one) is type(two) and repr(one) == repr(two))


def test_the_objects_do_not_matter():
    """Neither whether strings are one object or several, nor how often a value is referred to."""
    name = "".join(["long_", "name"])
    other = "".join(["long_", "name"])
    assert name is not other
    assert program_of((name, name)).id == program_of((name, other)).id

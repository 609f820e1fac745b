"""Reads the text of one instruction or global: types, constants and operands.

LLVM's own parser has accepted the text and printed it again, in which form it is read here.
"""

from __future__ import annotations

import re

import numpy as np

from tests.engine.gpu.nvptx.simt.frames import Operand
from tests.engine.gpu.nvptx.simt.memory import Allocations, address_of
from tests.engine.gpu.nvptx.simt.types import (
    Array,
    BFloat,
    Float,
    Integer,
    Pointer,
    Sequence,
    Struct,
    Type,
    Vector,
    Void,
)

TOKEN = re.compile(
    r"""\s*( [%@](?:"[^"]*"|[-\w$.]+) | c"[^"]*" | \#\d+
           | 0x[HRKLM]?[0-9A-Fa-f]+ | -?\d+\.\d+(?:e[-+]?\d+)? | -?\d+
           | [A-Za-z_][\w.]* | [][(){}<>,=*:] )""",
    re.VERBOSE,
)
METADATA = re.compile(r"(?:, ![\w.]+ ![\w.]+)+$")
FLOATS = {name: Float(name) for name in ("half", "float", "double")}
FLAGS = frozenset(
    "nuw nsw exact disjoint nneg samesign inbounds nusw volatile noundef signext zeroext "
    "nonnull".split()
)
#: Of what is passed and returned.
ATTRIBUTES = frozenset("range dereferenceable nofpclass align".split())
#: With these a GPU may compute other numbers.
FREEDOMS = frozenset("fast nnan ninf nsz arcp contract afn reassoc".split())


class Reader:
    """The tokens of a text that have not been read yet; registers that are ``used`` elsewhere."""

    def __init__(
        self, text: str, allocations: Allocations, used: frozenset[str] = frozenset()
    ) -> None:
        self.text = text.strip()
        self.allocations = allocations
        self.used = used
        self._tokens = TOKEN.findall(METADATA.sub("", self.text))
        self._at = 0

    def peek(self) -> str:
        """The next token, empty at the end."""
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def take(self) -> str:
        """Read the next token."""
        token = self.peek()
        self._at += 1
        return token

    def skip(self, token: str) -> bool:
        """Whether the next token is this one, which is read then."""
        if self.peek() != token:
            return False
        self._at += 1
        return True

    def expect(self, *tokens: str) -> None:
        """Read these tokens."""
        for token in tokens:
            if not self.skip(token):
                raise NotImplementedError(f"{self.peek()!r} instead of {token!r} in: {self.text}")

    def flags(self) -> set[str]:
        """Read the flags of an instruction: what they promise is not checked."""
        if self.peek() in FREEDOMS:
            raise NotImplementedError(f"the flag {self.peek()} in: {self.text}")
        found = set()
        while self.peek() in FLAGS or self.peek() in ATTRIBUTES:
            token = self.take()
            found.add(token)
            if token == "align":
                self.take()
            elif token in ATTRIBUTES:
                depth = 0
                while depth or self.peek() == "(":
                    depth += {"(": 1, ")": -1}.get(self.take(), 0)
        return found

    def end(self) -> None:
        """Nothing but a group of attributes may be left."""
        if self.peek() and not re.fullmatch(r"#\d+", self.peek()):
            raise NotImplementedError(f"{self.peek()!r} in: {self.text}")

    def type(self) -> Type:
        """Read a type."""
        token = self.take()
        if re.fullmatch(r"i\d+", token):
            return Integer(int(token[1:]))
        if token in FLOATS:
            return FLOATS[token]
        if token == "bfloat":
            return BFloat(token)
        if token == "ptr":
            return Pointer(self.space())
        if token == "void":
            return Void()
        if token in ("<", "["):
            count = int(self.take())
            self.expect("x")
            element = self.type()
            self.expect({"<": ">", "[": "]"}[token])
            return Vector(count, element) if token == "<" else Sequence(count, element)
        if token == "{":
            elements = [self.type()]
            while self.skip(","):
                elements.append(self.type())
            self.expect("}")
            return Struct(tuple(elements))
        raise NotImplementedError(f"the type {token!r} in: {self.text}")

    def space(self) -> int:
        """Read ``addrspace(N)``, if it is there."""
        if not self.skip("addrspace"):
            return 0
        self.expect("(")
        number = int(self.take())
        self.expect(")")
        return number

    def alignment(self, default: int) -> int:
        """Read ``, align N``, if it is there."""
        if not self.skip(","):
            return default
        self.expect("align")
        return int(self.take())

    def operand(self, type: Type) -> Operand:
        """Read a register or a constant of this type."""
        if self.peek().startswith("%"):
            name = self.take()
            return lambda frame: frame.registers[name]
        if isinstance(type, Struct):
            parts = self._structure(type)
            return lambda _: parts
        value = self.constant(type)
        value.flags.writeable = False
        return lambda _: value

    def typed(self) -> tuple[Type, Operand]:
        """Read a type and an operand of it."""
        type = self.type()
        self.flags()
        return type, self.operand(type)

    def constant(self, type: Type) -> Array:
        """Read a constant, of a sequence all its elements."""
        token = self.peek()
        if token in ("undef", "poison", "zeroinitializer"):
            self.take()
            return _filled(type, 0 if token == "zeroinitializer" else 0xFF)
        if isinstance(type, Vector | Sequence):
            return self._elements(type)
        if isinstance(type, Pointer):
            return np.array([self._address()], np.int64)
        self.take()
        if isinstance(type, Float):
            if re.match(r"0x[HR]", token):
                return np.array([int(token[3:], 16)], np.uint16).view(type.dtype)
            bits = token.startswith("0x")
            number = np.uint64(int(token, 16)).view(np.float64) if bits else np.float64(token)
            return type.register(np.array([number], np.float64))
        whole = {"true": 1, "false": 0}[token] if type.dtype == bool else int(token)
        return type.register(np.array([whole], object))

    def _structure(self, type: Struct) -> tuple[Array, ...]:
        if self.skip("{"):
            parts = [self.constant(self.type())]
            while self.skip(","):
                parts.append(self.constant(self.type()))
            self.expect("}")
            return tuple(parts)
        self.take()  # undef or poison
        return tuple(_filled(element, 0xFF) for element in type.elements)

    def _elements(self, type: Vector | Sequence) -> Array:
        axis = 1 if isinstance(type, Vector) else 0
        if self.peek().startswith('c"'):
            text = re.sub(r"\\([0-9A-F]{2})", lambda m: chr(int(m[1], 16)), self.take()[2:-1])
            return np.frombuffer(text.encode("latin-1"), np.int8)
        if self.skip("splat"):
            self.expect("(")
            values = [self.constant(self.type())] * type.count
            self.expect(")")
        else:
            self.take()
            values = [self.constant(self.type())]
            while self.skip(","):
                values.append(self.constant(self.type()))
            self.take()
        return np.stack(values, axis) if axis else np.concatenate(values)

    def _address(self) -> int:
        """Read the address of a global, or an expression of it."""
        token = self.take()
        if token.startswith("@"):
            return address_of(self.allocations.numbers[token])
        if token == "null":
            return 0
        self.flags()
        self.expect("(")
        if token == "addrspacecast":
            self.expect("ptr")
            self.space()
            address = self._address()
            self.expect("to")
            self.type()
        elif token == "getelementptr":
            type = self.type()
            self.expect(",", "ptr")
            self.space()
            address = self._address()
            sizes = iter(strides(type))
            while self.skip(","):
                address += int(self.constant(self.type())[0]) * next(sizes)
        else:
            raise NotImplementedError(f"the constant {token} in: {self.text}")
        self.expect(")")
        return address


def strides(type: Type) -> list[int]:
    """How many bytes each index of a ``getelementptr`` into this type steps over."""
    found = [type.size]
    while isinstance(type, Sequence | Vector):
        type = type.element
        found.append(type.size)
    return found


def _filled(type: Type, byte: int) -> Array:
    if isinstance(type, Sequence):
        inner = type.innermost
        return np.concatenate([_filled(inner, byte)] * (type.size // inner.size or 1))
    shape = (1, type.count) if isinstance(type, Vector) else (1,)
    if isinstance(type.scalar, Integer):
        return type.register(np.full(shape, -1 if byte else 0, object))
    filled = np.full((*shape, type.dtype.itemsize), byte, np.uint8).view(type.dtype)
    return filled.reshape(shape)

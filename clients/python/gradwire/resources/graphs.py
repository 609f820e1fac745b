"""Graphs of programs, as data and as pictures that the service draws."""

from __future__ import annotations

import base64
import html
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import urlencode

import numpy as np

from gradwire.call import Call, Reply, Steps
from gradwire.documents import Document
from gradwire.endpoints import Program, program_document, text_of
from gradwire.errors import UsageError
from gradwire.stored import StoredProgram
from gradwire.tracing.functions import Function
from gradwire.trees import Names, Variables, check_level, is_list, is_wire_leaf
from gradwire.usage import path_part, used
from gradwire.values import encode_variables, type_of

#: Characters of the longest query; without types it is shorter.
LONGEST_QUERY = 6000


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphNode(Document):
    """A value of a program."""

    id: str
    #: ``variable``, ``constant``, ``operation``, ``output`` and the like.
    kind: str
    #: The operation, the path of a variable, a constant's text.
    label: str
    #: The name of the value in the program.
    name: str | None
    #: Named arguments that are constants.
    parameters: Mapping[str, str] = field(default_factory=dict)
    #: Known if the request gave the variables.
    dtype: str | None
    shape: tuple[int, ...] | None
    #: ``target``, ``source`` or both.
    marks: tuple[str, ...] = ()
    #: The id of the innermost group around it.
    group: str | None
    #: Its place in the program's text, or its pointer into the program's graph.
    line: int | None
    column: int | None
    pointer: str | None


@dataclass(frozen=True, slots=True)
class GraphEdge(Document):
    """A value of the node ``tail`` that the node ``head`` reads."""

    tail: str
    head: str
    #: The operand's position, or its name.
    position: int | None
    name: str | None

    @classmethod
    def read(cls, document: Mapping[str, Any], **given: Any) -> Self:
        """The edge of a reply."""
        ends = {"tail": document["from"], "head": document["to"]}
        return cls(**ends, position=document.get("position"), name=document.get("name"))


@dataclass(frozen=True, slots=True)
class GraphGroup(Document):
    """A branch, a loop or a function of a program."""

    id: str
    label: str
    #: The id of the group around it.
    parent: str | None
    #: Its place in the program's text, or its pointer into the program's graph.
    line: int | None
    column: int | None
    pointer: str | None


@dataclass(frozen=True, slots=True)
class Graph(Document):
    """The graph of a program: values, who reads them, and the groups that they are in."""

    #: The program's id.
    program: str
    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    groups: tuple[GraphGroup, ...]


@dataclass(frozen=True, slots=True)
class Drawing:
    """A program's graph, as notebooks show it."""

    #: The id of the registered program.
    program: str
    #: The program's text, if it has one.
    text: str | None
    _svg: str = field(repr=False)
    _dot: str = field(repr=False)

    def svg(self) -> str:
        """The picture: for light and dark pages, without external resources."""
        return self._svg

    def dot(self) -> str:
        """The graph for Graphviz."""
        return self._dot

    def _repr_svg_(self) -> str:
        return self._svg

    def _repr_html_(self) -> str:
        return self.image()

    def image(self) -> str:
        """The picture as an image of HTML, so that its style does not affect the page."""
        source = base64.b64encode(self._svg.encode()).decode("ascii")
        alt = html.escape(f"graph of program {self.program}")
        return f'<img src="data:image/svg+xml;base64,{source}" alt="{alt}" style="max-width:100%">'


def drawing(
    program: Program | Callable[..., Any],
    point: Sequence[Any],
    target: Names = None,
    sources: Names = None,
) -> Steps[Drawing]:
    """The steps to a program's picture; with a point, its nodes have types."""
    if not callable(program):
        program_document(program)  # which refuses what is no program
    variables: Any = point[0] if point else None
    if callable(program):
        function = program if isinstance(program, Function) else Function(program)
        traced, leaves = yield from function.traced(*point)
        program, variables = traced.text, traced.variables(leaves)
        target = traced.returned if target is None else target
    elif len(point) > 1:
        raise UsageError(f"a program needs one point, its variables by name, got {len(point)}")
    with used("what is drawn"):
        registering = _registered(program)
    known = yield from registering
    with used("what is drawn"):
        query = query_of(variables, target, sources)
    pictures = []
    for form in ("svg", "dot"):
        path = f"{path_of(known.id)}/graph.{form}{query}"
        pictures.append((yield from Call("GET", path, None, _text)))
    return Drawing(known.id, known.text, *pictures)


def path_of(reference: str) -> str:
    """The path of a stored program, by its id or a name."""
    return f"/v1/programs/{path_part(reference, 'a stored program, its id or a name')}"


def query_of(variables: Variables | None, target: Names, sources: Names) -> str:
    """The query of a graph: the types of variables, and what is marked.

    Without types if one is unknown, or if there are too many for a query.
    """
    types = [] if variables is None else list(_types(encode_variables(variables)))
    asked = [("target", name) for name in _flat(target)]
    asked += [("source", name) for name in _flat(sources)]
    query = urlencode([*(("type", told) for told in types), *asked])
    if None in types or len(query) > LONGEST_QUERY:
        query = urlencode(asked)
    return f"?{query}" if query else ""


def registration(program: Program, name: str | None = None) -> Call[StoredProgram]:
    """Store a program; the answer describes it."""
    named = {} if name is None else {"name": name}
    document = {"program": program_document(program), **named}
    return Call("POST", "/v1/programs", document, StoredProgram.of, text_of(program))


def _registered(program: Program) -> Call[StoredProgram]:
    """Store a program that is not stored yet; the answer describes it."""
    document = program_document(program)
    if isinstance(document, str) or not document.keys() & {"ref", "name"}:
        return registration(program)
    reference = str(document.get("ref") or document.get("name"))
    return Call("GET", path_of(reference), None, StoredProgram.of)


def _text(reply: Reply) -> str:
    return reply.response.text


def _types(part: Any, path: str = "") -> Iterator[str | None]:
    """The types in a document of variables, as in queries; None for values without a type."""
    if is_wire_leaf(part):
        part = part.get("value")
    elif isinstance(part, Mapping) or is_list(part):
        for key in part if isinstance(part, Mapping) else range(len(part)):
            yield from _types(part[key], f"{path}.{key}" if path else f"{key}")
        return
    dense = isinstance(part, (bool, float, np.ndarray))
    yield f"{path}:{type_of(part)}" if dense else None


def _flat(names: Names) -> Iterator[str]:
    if isinstance(names, str):
        yield names
    elif names is not None:
        check_level(names)
        for part in names.values() if isinstance(names, Mapping) else names:
            yield from _flat(part)

"""``client.programs``: programs that the service stores."""

from __future__ import annotations

import builtins

from gradwire.call import Call, Steps
from gradwire.endpoints import Program
from gradwire.methods import AwaitingResource, BlockingResource, sent
from gradwire.resources.graphs import Graph, path_of, query_of, registration
from gradwire.resources.pages import listed
from gradwire.stored import StoredProgram
from gradwire.trees import Names, Variables


class ProgramMethods:
    """Programs are stored under their ids and any number of names, until they are deleted."""

    @sent
    def register(self, program: Program, name: str | None = None) -> Call[StoredProgram]:
        """Store a program, and name it; a name that another program has is moved.

        The answer may be sent in the program's place. Equal programs have equal ids, so that
        registering again changes nothing.

        >>> loss = client.programs.register("mean((w * x - 3)**2)", name="loss")
        >>> client.gradient(loss, {"w": 2.0, "x": [1.0, 2.0]}, sources="w").gradients
        np.float64(1.0)
        """
        return registration(program, name)

    @sent
    def get(self, program: str | StoredProgram) -> Call[StoredProgram]:
        """A stored program by its id or one of its names, with its text.

        >>> loss = client.programs.register("mean((w * x - 3)**2)", name="loss")
        >>> client.programs.get("loss").text
        'mean((w * x - 3)**2)'
        """
        return Call("GET", _path(program), None, StoredProgram.of)

    @sent
    def delete(self, program: str | StoredProgram) -> Call[None]:
        """Delete a program and all its names.

        >>> client.programs.delete(client.programs.register("x - 3", name="three"))
        """
        return Call("DELETE", _path(program), None, lambda _: None)

    @sent
    def graph(
        self,
        program: str | StoredProgram,
        variables: Variables | None = None,
        *,
        target: Names = None,
        sources: Names = None,
    ) -> Call[Graph]:
        """The graph of a stored program as data; ``client.draw`` makes a picture of it.

        With ``variables`` nodes have a dtype and a shape; those of ``target`` and ``sources`` are
        marked.

        >>> loss = client.programs.register("mean((w * x - 3)**2)", name="loss")
        >>> graph = client.programs.graph(loss, sources="w")
        >>> [node.label for node in graph.nodes if "source" in node.marks]
        ['w']
        """
        path = f"{_path(program)}/graph.json{query_of(variables, target, sources)}"
        return Call("GET", path, None, Graph.of)

    @sent
    def list(self) -> Steps[builtins.list[StoredProgram]]:
        """All stored programs in the order of their ids, without texts.

        >>> loss = client.programs.register("mean((w * x - 3)**2)", name="loss")
        >>> [program.variables for program in client.programs.list() if "loss" in program.names]
        [('w', 'x')]
        """
        return listed("programs", StoredProgram.read)


class Programs(ProgramMethods, BlockingResource):
    """The programs of a ``Client``."""


class AsyncPrograms(ProgramMethods, AwaitingResource):
    """The programs of an ``AsyncClient``."""


def _path(program: str | StoredProgram) -> str:
    return path_of(program.id if isinstance(program, StoredProgram) else program)

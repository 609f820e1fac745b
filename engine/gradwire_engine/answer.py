"""The vocabulary of questions and answers: leaves, queries, limits, and what comes back."""

from __future__ import annotations

import marshal
import sys
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

from numpy.typing import NDArray

from gradwire_engine.errors import Place

Array: TypeAlias = NDArray[Any]
#: Names nested in lists and dicts, as JSON gives them; ``None`` leaves stay ``None``.
Names: TypeAlias = "str | Sequence[Names] | Mapping[str, Names] | None"
#: Called between instructions and iterations; raises ``DeadlineExceeded`` to stop the work.
Poll: TypeAlias = Callable[[], None]
#: Of the values, or of their derivatives.
Direction: TypeAlias = Literal["forward", "backward"]


#: The kind of a query: the value, or beside it derivatives or products with them.
Kind: TypeAlias = Literal["evaluate", "gradient", "jacobian", "hessian", "jvp", "hvp", "check"]
#: The treatment of a gradient's slices that have one index: all are listed, or their sum.
Repeats: TypeAlias = Literal["listed", "summed"]
#: The rule that combines dtypes of operands that differ.
Promotion: TypeAlias = Literal["numpy", "strict"]
#: Whether a Jacobian is made of rows or of columns; ``auto`` takes the fewer.
Mode: TypeAlias = Literal["auto", "forward", "reverse"]


class Leaf(NamedTuple):
    """One variable's value, and whether it is differentiated when no sources are named.

    Of ``any_shape``, it may be assigned values of other shapes. A ``resident`` one is the same
    array whenever it is given under that digest.
    """

    value: Array | str
    trainable: bool = True
    any_shape: bool = False
    resident: str | None = None


#: Leaves nested in lists and dicts; the outermost is a dict.
Variables: TypeAlias = "Mapping[str, Leaf | Variables | Sequence[Any]]"


#: The fields of a query that may be nested, and those after them.
_NESTED, _PLAIN = slice(1, 5), slice(5, None)


class Shard(NamedTuple):
    """One part of ``rows`` rows, which the first axis of the variables named in ``of`` has.

    A variable in nested ones is named by its path, ``data.x``, or all of them by theirs. The
    ``first`` shard alone counts what has no rows, such as a regulariser. Targets are sums over the
    rows, or ``residuals``, whose first axis has those of this shard.
    """

    of: tuple[str, ...]
    rows: int
    first: bool = False
    residuals: bool = False


class Query(NamedTuple):
    """A query of a program. All names are of variables or of top-level intermediates.

    ``target`` defaults to the program's output and ``sources`` to all variables in their structure;
    a target that is nested is summed. ``outputs`` are what is evaluated, by default the program's
    output, or further values that are wanted beside a derivative.  ``mode`` is a Jacobian's.
    With ``slices`` the gradient in a variable that is only gathered from is given by these.
    ``batch`` names what has an axis of examples, variables and (as ``tangents.x``) vectors:
    everything is answered for each of these, along a first axis. ``step`` is that of a check's
    differences, ``rtol`` and ``atol`` what the gradient may differ from them; without them they are
    chosen for the dtypes, or ``several`` steps are. ``exact`` allows no rewriting that changes
    rounding: every answer is, bit for bit, what the recorded operations give one by one in NumPy.
    Of a ``shard``, whose rows the variables hold, every answer is its part: those of all shards add
    up to the answer of the whole.
    """

    kind: Kind
    outputs: Names = None
    target: Names = None
    sources: Names = None
    batch: Mapping[str, int] | None = None
    unconnected: Literal["none", "zero"] = "none"
    promotion: Promotion = "numpy"
    mode: Mode = "auto"
    format: Literal["dense", "coo"] = "dense"
    slices: Repeats | None = None
    step: float | None = None
    rtol: float | None = None
    atol: float | None = None
    several: bool = False
    exact: bool = False
    shard: Shard | None = None

    @property
    def key(self) -> tuple[Hashable, ...]:
        """Equal for queries that ask the same: what may be nested is written out, as in programs.

        Raises: ``ValueError`` where it is more than lists and dicts of names and numbers.
        """
        nested: Any = self[_NESTED]
        return self[0], marshal.dumps(nested, 0), self[_PLAIN]


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one request; each is checked against the prediction, before anything runs.

    ``array_bytes`` bounds each array, ``total_bytes`` what is held at once, constants included, and
    ``answer_bytes`` the arrays of an answer, each as often as it is named. The blocks of large
    arrays are shared by as many ``threads``. ``kept_bytes`` bounds what is kept of a compiled
    query's computations on resident variables.
    """

    array_bytes: int = 1 << 30
    total_bytes: int = 4 << 30
    instructions: int = 300_000
    flops: int = 10**12
    threads: int = 1
    kept_bytes: int = 64 << 20
    answer_bytes: int = sys.maxsize


class Unconnected(NamedTuple):
    """Why a gradient does not exist, and where the path from the source ends."""

    reason: str
    detail: str
    node: Place | None = None


class Notice(NamedTuple):
    """Something the client should know though the answer is right."""

    code: str
    detail: str
    node: Place | None = None


class Check(NamedTuple):
    """A source's gradient compared with differences: the largest error, and at which element.

    At None where the source has too many: then it is that of a slope along a random direction. In
    a batch the example is the first of the indices. Not ``decided`` if the gradient is not ``ok``,
    but differences are too unsure to contradict it, as they are at a kink.
    """

    ok: bool
    decided: bool
    error: float
    at: tuple[int, ...] | None


class Range(NamedTuple):
    """An operand's shape, its least and greatest finite element, and how many are not finite."""

    shape: tuple[int, ...]
    min: float | None
    max: float | None
    nonfinite: int


class Nonfinite(NamedTuple):
    """The place where values stopped being finite: the node, and its instruction with its operands.

    Of a variable or a constant that came so, ``operands`` is its own range.
    """

    node: Place
    instruction: str
    operands: tuple[Range, ...]
    hint: str | None = None


class Answer(NamedTuple):
    """The answer to a query: arrays in the structure of the names that were asked for.

    ``value`` is the target's, or what was evaluated; ``outputs`` what was wanted beside a gradient;
    ``derivatives`` what the kind of query gives: ``gradients``, ``jacobian``, ``hessian``, ….
    """

    value: Any
    outputs: Any
    derivatives: dict[str, Any]
    unconnected: Mapping[str, Unconnected]
    updates: dict[str, Array]
    warnings: Sequence[Notice]
    nonfinite: dict[Direction, Nonfinite]
    checks: dict[str, Check] | None = None

    @property
    def gradients(self) -> Any:
        """The gradients in the sources' structure."""
        return self.derivatives["gradients"]

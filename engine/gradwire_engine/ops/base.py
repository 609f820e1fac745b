"""The base of operations: one class with its type rule, kernel, derivative, cost and public face.

A *primitive* is a class registered with ``@register``: its fields are static parameters, its rules
take tape variables and emit instructions, so that derivatives can be differentiated again. A
*macro* is a function registered with ``@macro`` that only records primitives. Programs call both
through ``record``, whose Python signature, less the leading builder, is the public one.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from inspect import Parameter
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, TypeVar, dataclass_transform

from gradwire_engine.errors import InternalError
from gradwire_engine.identity import exact
from gradwire_engine.tape import ArrayType, DType, Type

if TYPE_CHECKING:
    from typing import Self

    from gradwire_engine.ops.builder import Builder, Var

#: The cotangents that a rule gives for its operands, ``None`` where nothing flows.
Cotangents = Sequence["Var | None"]
#: Annotates a parameter of ``record`` that must be known while recording (an axis, a shape, a
#: dtype): an integer variable given there becomes static, guarded with its value.
Static: TypeAlias = Any


def is_static(parameter: Parameter) -> bool:
    """True if a parameter is annotated so; annotations are never evaluated."""
    return bool(parameter.annotation == "Static")


class Op:
    """A primitive with its static parameters as fields; equal when class and fields are.

    ``ufunc`` names the array namespace's function (``exp``, ``special.erf``) that is the whole
    kernel; ``template`` is the kernel as an expression over the operands ``{0}``, ``{1}``.
    ``scalar`` is such an expression over numbers, with functions of ``math``, where that is not
    ``template``; it may raise where IEEE arithmetic has an answer.
    """

    name: ClassVar[str] = ""
    family: ClassVar[str] = ""
    ufunc: ClassVar[str] = ""
    template: ClassVar[str] = ""
    scalar: ClassVar[str] = ""
    #: False states that results carry no derivative; ``vjp`` is then never asked.
    differentiable: ClassVar[bool] = True
    #: Element i of the result depends on element i of the (broadcast) operands only.
    elementwise: ClassVar[bool] = False
    #: The derivative does not depend on the operands' values, so a zero cotangent gives zero.
    linear: ClassVar[bool] = False
    #: False: the elements of the result are some of the operands', or 0, or such with another sign,
    #: or whole numbers near them, so no dtype rounds them.
    rounds: ClassVar[bool] = True
    #: Its results are its first operands, each by its number.
    forwards: ClassVar[bool] = False
    #: The result may share the first operand's memory, which is then kept as long.
    views: ClassVar[bool] = False
    #: Computes what several instructions do, looks at the deadline while it does, and predicts the
    #: memory that this takes: ``nbytes``.
    composite: ClassVar[bool] = False
    #: Each operand has a ``cotangent`` by itself, emitted only where it is wanted.
    by_operand: ClassVar[bool] = False
    #: Memory that the kernel takes beside operands and result, in sizes of what is larger of these.
    workspace: ClassVar[float] = 0.0
    parameters: ClassVar[tuple[str, ...]] = ()
    #: Of these, those by which operations differ.
    _compared: ClassVar[tuple[str, ...]] = ()
    _only: ClassVar[Op | None] = None

    def __new__(cls, *_args: Any, **_kwargs: Any) -> Self:
        """Give the one instance of a class without parameters: equality is then identity."""
        return cls.__dict__.get("_only") or object.__new__(cls)

    @cached_property
    def _identity(self) -> tuple[Hashable, ...]:
        return tuple([exact(getattr(self, name)) for name in self._compared])

    def __eq__(self, other: object) -> bool:
        """True for the same operation with the same parameters: the sign of a zero counts."""
        if self is other or not isinstance(other, Op):
            return self is other
        return type(self) is type(other) and self._identity == other._identity

    def __hash__(self) -> int:
        """Of the parameters."""
        return hash((type(self), self._identity))

    def __call__(self, *operands: Var) -> Var:
        """Record this operation on ``operands``."""
        return operands[0].builder.emit(self, *operands)

    def __str__(self) -> str:
        listed = ", ".join(f"{key}={getattr(self, key)!r}" for key in self.parameters)
        return f"{self.name}[{listed}]" if listed else self.name

    @classmethod
    def record(cls, b: Builder, *args: Any, **kwargs: Any) -> Any:
        """Record a call from a program: bind, promote, normalise, emit."""
        raise InternalError(f"{cls.name} cannot be called from a program")

    def infer(self, *types: ArrayType) -> Type:
        """Type of the result, or an ``ArgumentError`` saying what does not fit."""
        raise InternalError(f"{self.name} has no type rule")

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Compute the result with the array namespace ``xp``."""
        return attrgetter(self.ufunc)(xp)(*operands)

    @property
    def nbytes(self) -> int:
        """Predicted bytes of what a ``composite`` one makes, but for what is read as an item."""
        raise InternalError(f"{self.name} is no composite")

    def in_single(self, half: DType) -> Op | None:
        """The operation on float32 that is this one on a ``half`` dtype but for rounding.

        None where it must see the dtype itself.
        """
        return self

    @property
    def is_ufunc(self) -> bool:
        """True if the namespace's function is the whole kernel."""
        return type(self).kernel is Op.kernel

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """Cotangents of the operands: the transposed derivative applied to ``z_bar``."""
        return [self.cotangent(i, z_bar, z, *operands) for i in range(len(operands))]

    def cotangent(self, number: int, z_bar: Var, z: Var, *operands: Var) -> Var | None:
        """The cotangent of the operand of this number; what defines it needs no ``vjp``."""
        slope = self.slope(z, operands[0])
        return z_bar * (SINGLETONS["conjugate"](slope) if slope.dtype.kind == "c" else slope)

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x`` of one operand ``x``; what defines it needs neither."""
        raise InternalError(f"{self.name} has no derivative")

    def holds(self, result: Type) -> bool:
        """True if ``vjp`` takes all operands but the last for constant, though they are not."""
        return False

    def batch(self, operands: Sequence[Var], batched: Sequence[bool]) -> Var:
        """Record on all examples at once; axis 0 counts them where marked, and in the result.

        At least one operand is marked; the others are the same for all examples.
        """
        raise InternalError(f"{self.name} has no batching rule")

    def flops(self, result: Type, *types: ArrayType) -> int:
        """Predicted arithmetic operations."""
        raise InternalError(f"{self.name} has no cost")


def no_arithmetic(op: Op, result: Type, *types: ArrayType) -> int:
    """The cost of an operation that computes nothing: it moves, names or checks values."""
    return 0


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """A name that programs can call, and what calling it records."""

    name: str
    aliases: tuple[str, ...]
    record: Callable[..., Any]
    doc: str
    family: str
    differentiable: bool


#: Primitives by name, filled by ``register`` alone.
PRIMITIVES: dict[str, type[Op]] = {}
#: The one instance of each primitive without parameters.
SINGLETONS: dict[str, Op] = {}
#: Everything a program can call, by name and alias.
FUNCTIONS: dict[str, Function] = {}

T = TypeVar("T", bound=type[Op])
F = TypeVar("F", bound=Callable[..., Any])


@dataclass_transform(frozen_default=True)
def register(name: str, *aliases: str, public: bool = True) -> Callable[[T], T]:
    """Make a class a primitive; one that lacks a part fails here, at import.

    ``public=False`` keeps out of programs' reach what only derivative rules and the recorder use.
    """

    def complete(cls: T) -> T:
        cls.name, cls.family = name, cls.__module__.rpartition(".")[2]
        dataclass(frozen=True, repr=False, eq=False)(cls)
        cls.parameters = tuple(field.name for field in fields(cls))  # type: ignore[arg-type]
        cls._compared = tuple(field.name for field in fields(cls) if field.compare)  # type: ignore[arg-type]
        if not cls.parameters:
            cls._only = SINGLETONS[name] = object.__new__(cls)
            vars(cls._only)["_identity"] = ()
            # They are the keys of most tables: without a call of Python's for each look.
            cls.__eq__ = object.__eq__  # type: ignore[method-assign]
            cls.__hash__ = object.__hash__  # type: ignore[method-assign]
        cls.by_operand = not _inherited_from_op(cls, "cotangent")
        needed = ["infer", "batch", "flops"]
        by_rule = _inherited_from_op(cls, "slope") and not cls.by_operand
        needed += ["vjp"] if cls.differentiable and by_rule else []
        needed += ["record"] if public else []
        needed += [] if cls.ufunc else ["kernel"]
        missing = [part for part in needed if _inherited_from_op(cls, part)]
        if missing or not cls.__doc__ or name in PRIMITIVES:
            raise TypeError(f"operation {name}: needs {missing or 'a docstring and its own name'}")
        PRIMITIVES[name] = cls
        if public:
            publish(name, aliases, cls.record, cls.__doc__, cls.family, cls.differentiable)
        return cls

    return complete


def macro(name: str, *aliases: str, differentiable: bool = True) -> Callable[[F], F]:
    """Make a function that records primitives callable from programs."""

    def complete(function: F) -> F:
        family = function.__module__.rpartition(".")[2]
        publish(name, aliases, function, function.__doc__ or "", family, differentiable)
        return function

    return complete


def _inherited_from_op(cls: type[Op], part: str) -> bool:
    found = getattr(cls, part)
    return getattr(found, "__func__", found) is getattr(
        getattr(Op, part), "__func__", getattr(Op, part)
    )


def publish(
    name: str,
    aliases: tuple[str, ...],
    record: Callable[..., Any],
    doc: str,
    family: str,
    differentiable: bool,
) -> None:
    """Enter a function under its name and its aliases."""
    function = Function(name, aliases, record, doc, family, differentiable)
    for key in (name, *aliases):
        if key in FUNCTIONS or not doc:
            raise TypeError(f"function {key}: needs a docstring and a name of its own")
        FUNCTIONS[key] = function

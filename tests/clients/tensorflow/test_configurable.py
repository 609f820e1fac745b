"""Annotated attributes are the parameters of a class, and its configuration."""

import inspect
from typing import Any, ClassVar

import gradwire.tf
import pytest
from gradwire.tf.keras.configurable import configurable, options, parameters, unset

K: Any = gradwire.tf.keras


class Base:
    """A base with an ``__init__`` of its own."""

    def __init__(self, name: str = "base", size: int = 1) -> None:
        self.given = name, size


@configurable
class Middle(Base):
    """Two parameters, one of them the base's; counts how often it was finished."""

    first: Any
    name: str = "middle"
    made: Any = unset()
    kinds: ClassVar[int] = 0

    def __post_init__(self) -> None:
        self.made = (self.made or 0) + 1

    def _option(self, name: str, value: Any) -> Any:
        return f"{name}={value}"


@configurable
class Last(Middle):
    """Another order, and one more parameter."""

    more: int = 3
    first: Any = None


@options
class Late:
    """A parameter of several classes."""

    late: int = 2


@options
class Early:
    """One that comes before."""

    early: int = 1


@configurable
class Shared(Late, Early, Base):
    """Both, and one of its own."""

    own: int = 3


def test_parameters_of_bases_come_before_its_own_the_last_base_first():
    assert str(inspect.signature(Shared)) == "(early=1, late=2, own=3, **kwargs)"
    made = Shared(5, late=6)
    assert (made.early, made.late, made.own, hasattr(Late, "late")) == (5, 6, 3, False)


def test_parameters_are_the_attributes_in_their_order():
    assert str(inspect.signature(Middle)) == "(first, name='middle', **kwargs)"
    assert parameters(Middle) == ["first", "name", "size"]
    assert parameters(Last) == ["more", "first", "name", "size"]


def test_what_the_base_takes_is_given_to_it():
    last: Any = Last  # type checkers see the base's order, and no parameters of other classes
    made = last(5, 6, size=7)
    assert made.given == ("middle", 7)
    assert (made.more, made.first, made.made) == ("more=5", "first=6", 1)


def test_wrong_arguments_are_type_errors():
    middle: Any = Middle  # type checkers refuse these arguments too
    for args, kwargs in (((), {}), ((1, "2", 3), {}), ((1,), {"nonsense": 2})):
        with pytest.raises(TypeError):
            middle(*args, **kwargs)


@pytest.mark.parametrize("name", ["optimizers", "initializers", "constraints", "metrics", "losses"])
def test_each_class_of_a_module_is_made_again_from_its_configuration(name):
    module = getattr(K, name)
    names = getattr(module, "__all__", vars(module))
    for kind in {each for each in map(vars(module).get, names) if inspect.isclass(each)}:
        needed = [
            each
            for each in inspect.signature(kind).parameters.values()
            if each.default is each.empty and each.kind is each.POSITIONAL_OR_KEYWORD
        ]
        if hasattr(kind, "from_config") and not needed:
            config = kind().get_config()  # type: ignore[attr-defined]  # as just asked
            again = kind.from_config(config).get_config()
            assert again == config, kind

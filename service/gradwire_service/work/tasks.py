"""Everything that may be asked to be done, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeAlias

from gradwire_service.engines import Engines, open_engines
from gradwire_service.references import ReferenceResolver
from gradwire_service.settings import Settings
from gradwire_service.store import Store
from gradwire_service.tapes import Tapes
from gradwire_service.wire.codec import DOCUMENTS, DOWNLOADS, UPLOADS, Offer
from gradwire_service.wire.envelope import FIELDS
from gradwire_service.wire.shared import Body
from gradwire_service.work.compute import Computing
from gradwire_service.work.pictures import FORMS, PictureWork
from gradwire_service.work.programs import ProgramWork
from gradwire_service.work.request import Request
from gradwire_service.work.tapes import TapeWork
from gradwire_service.work.tensors import TensorWork

#: Answers a request, given the parameters of its path; gives the pieces of the body.
Work: TypeAlias = Callable[..., list[Body]]

#: The formats of tasks that do not exchange documents alone.
_OFFERS: Mapping[str, Offer] = {
    "tensors.put": UPLOADS,
    "tensors.show": DOWNLOADS,
    "tensors.look": DOWNLOADS,
    **{f"pictures.{name}": form.offer for name, form in FORMS.items()},
}


#: The settings that bound what is kept from one request to the next.
_KEPT = ("cache_bytes", "near_bytes", "tape_values_bytes")


def offer_of(task: str) -> Offer:
    """The formats that a task reads and writes."""
    return _OFFERS.get(task, DOCUMENTS)


class Tasks:
    """All work, with what it keeps: an engine's cache, values of tapes."""

    def __init__(self, engines: Engines, resolver: ReferenceResolver, tapes: Tapes) -> None:
        tapes_work = TapeWork(tapes, resolver)
        programs = ProgramWork(resolver)
        tensors = TensorWork(resolver.tensors)
        pictures = PictureWork(resolver, engines.limits)
        computing = Computing(engines, resolver)
        self._work: dict[str, Work] = {
            **{kind: partial(computing.compute, kind) for kind in FIELDS},
            **{f"pictures.{name}": partial(pictures.draw, form) for name, form in FORMS.items()},
            "tapes.create": tapes_work.create,
            "tapes.ask": tapes_work.ask,
            "tapes.show": tapes_work.show,
            "tapes.remove": tapes_work.remove,
            "programs.register": programs.register,
            "programs.all": programs.all,
            "programs.show": programs.show,
            "programs.remove": programs.remove,
            "tensors.put": tensors.put,
            "tensors.show": tensors.show,
            "tensors.look": tensors.look,
            "tensors.remove": tensors.remove,
        }

    def run(self, task: str, request: Request, arguments: tuple[str, ...]) -> list[Body]:
        """Do a task: the pieces of the answer's body. The rest is the request's ``outcome``."""
        return self._work[task](request, *arguments)


def open_tasks(settings: Settings, store: Store, *, apart: bool) -> Tasks:
    """All work on a store, with engines and a resolver of its own."""
    engines = open_engines(settings, apart=apart)
    resolver = ReferenceResolver(engines, store, settings.near_bytes)
    return Tasks(engines, resolver, Tapes(engines, store, resolver, settings.tape_values_bytes))


def shared_by(settings: Settings, count: int) -> Settings:
    """The settings of each of so many that divide what is kept between them."""
    shares = {name: max(getattr(settings, name) // count, 1) for name in _KEPT}
    return settings.model_copy(update=shares)


def kept_bytes(settings: Settings) -> int:
    """The most that all work keeps from one request to the next."""
    return sum(getattr(settings, name) for name in _KEPT)

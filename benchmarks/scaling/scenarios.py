"""What is simulated: rates, catalogues of programs, and the replica of deploy/ and its cache."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from scaling.fleet import Fleet, Outcome, Routing, Simulation
from scaling.fluid import Flow
from scaling.popularity import Popularity
from scaling.times import Measured

#: ``GRADWIRE_CACHE_BYTES`` and ``GRADWIRE_CORES`` of docker-compose.yml.
CACHE_BYTES = 128 << 20
CORES = 2
#: The share of the cache that executables have where more programs come than it holds: the larger
#: of two shares gives way, and the other one is of parsed programs.
EXECUTABLES = 0.5
SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
EXPONENTS = (0.8, 1.0, 1.2)
#: Seconds that 99 of 100 requests are to take at most.
TARGET_SECONDS = 0.05
#: Replicas of a part of the fleet that is simulated in place of all of it.
SHARD = 16
#: A program is shared by all parts of a fleet if it is so much of the requests of one replica.
_POPULAR = 0.25
#: Requests that fill the caches before, for each program that they hold.
_FILLING = 20
_WARM_SECONDS = 0.5


def fleet(workload: Measured, replicas: int, routing: Routing, **options: int) -> Fleet:
    """So many replicas of deploy/, for programs of this workload."""
    size = EXECUTABLES * CACHE_BYTES
    kept = workload.kept_bytes
    return Fleet(workload.stages, replicas, int(size), kept, routing, CORES, **options)


def simulated(flow: Flow, seconds: float, *, whole: bool = False) -> Outcome:
    """Requests to a fleet, or to one of its equal parts of 16 replicas if it has more."""
    parts = 1.0 if whole else max(flow.fleet.replicas / SHARD, 1.0)
    return part_of(flow, parts).run(seconds)


def part_of(flow: Flow, parts: float) -> Simulation:
    """The simulation of one of so many equal parts of a fleet, its caches full."""
    whole = flow.fleet
    replicas = max(round(whole.replicas / parts), 1)
    popularity: Popularity = flow.popularity
    if parts > 1:
        popularity = popularity.shard(parts, _POPULAR / whole.replicas)
    one = replace(whole, replicas=replicas)
    simulation = Simulation(one, popularity, flow.rate / whole.replicas * replicas)
    simulation.warm(_FILLING * replicas * whole.capacity)
    simulation.run(_WARM_SECONDS)
    return simulation


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table as the guide has them."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def ms(seconds: float) -> str:
    """Milliseconds in two digits or whole ones."""
    figure = 1e3 * seconds
    return f"{figure:.1f}" if figure < 10 else f"{figure:,.0f}"


def number(figure: float) -> str:
    """A figure in three digits, or a whole number."""
    return f"{figure:,.0f}" if figure >= 100 else f"{figure:.3g}"

"""Segments captured as CUDA graphs, for arrays at certain places of the device's memory."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from gradwire_gpu.cupy.device import Device, Staged
from gradwire_gpu.cupy.segments import Segment

logger = logging.getLogger("gradwire")
#: Places for which graphs are kept.
_MOST_RECORDINGS = 4
#: The places of inputs that stay where they are.
Key: TypeAlias = tuple[Any, ...]


class Graph(NamedTuple):
    """A captured segment: where what it reads is copied before, and what others read of it.

    It computes with ``plans`` of Fourier transforms and in their memory, so they must live as long.
    """

    graph: Any
    places: Mapping[int, Any]
    results: Mapping[int, Any]
    plans: Sequence[Any]


class Recording:
    """The graphs of a replay, with memory of one pool.

    The values of the slots that are ``still`` have the same places in all replays.
    """

    def __init__(self, device: Device, still: set[int]) -> None:
        self._device, self._still = device, still
        self._pool = device.cupy.cuda.MemoryPool(device.pool.malloc)
        self._graphs: dict[int, Graph] = {}

    def replay(self, segment: Segment, values: list[Any]) -> bool:
        """Launch the graph of a segment; false if it has not been captured."""
        graph = self._graphs.get(segment.begin)
        if graph is None:
            return False
        for slot, place in graph.places.items():
            self._copy(values[slot], place)
            values[slot] = place
        graph.graph.launch(self._device.stream)
        for slot, value in graph.results.items():
            values[slot] = value
        for slot in segment.last:
            values[slot] = None
        return True

    def capture(
        self, segment: Segment, values: list[Any], launch: Callable[[list[Any]], None]
    ) -> bool:
        """Capture what ``launch`` does with values; false if it cannot be captured."""
        graph = self._captured(segment, [*values], launch)
        if graph is None:
            self._pool.free_all_blocks()
            return False
        self._graphs[segment.begin] = graph
        self._still.update(graph.places, graph.results)
        return self.replay(segment, values)

    def _captured(
        self, segment: Segment, given: list[Any], launch: Callable[[list[Any]], None]
    ) -> Graph | None:
        device = self._device
        cuda, stream = device.cupy.cuda, device.stream
        try:
            with cuda.using_allocator(self._pool.malloc):
                moving = [slot for slot in segment.reads if slot not in self._still]
                places = {slot: self._place(given[slot]) for slot in moving}
                for slot, place in places.items():
                    given[slot] = place
                stream.begin_capture()
                try:
                    launch(given)
                finally:
                    graph = stream.end_capture()
        except device.cupy.cuda.memory.OutOfMemoryError as error:
            logger.warning("there is no memory for a graph; launches are made anew: %s", str(error))
            return None
        except Exception as error:
            device.end_if_lost(error)
            logger.warning("launches cannot be captured; each is made anew", exc_info=True)
            return None
        results = {slot: given[slot] for slot in segment.kept}
        plans = [node.plan for _, node in device.cupy.fft.config.get_plan_cache()]
        return Graph(graph, places, results, plans)

    def _place(self, value: Any) -> Any:
        """Memory for what is at another place in each replay: an array, or several."""
        if isinstance(value, tuple | list):
            return [self._place(each) for each in value]
        return None if value is None else self._device.cupy.empty(value.shape, value.dtype)

    def _copy(self, value: Any, place: Any) -> None:
        if isinstance(place, list):
            for each, of_each in zip(value, place, strict=True):
                self._copy(each, of_each)
        elif place is not None:
            if value.flags.c_contiguous and value.dtype == place.dtype:
                place.data.copy_from_device_async(value.data, value.nbytes, self._device.stream)
            else:
                place[...] = value


class Recordings:
    """An executable's recordings, by the places of inputs that stay where they are.

    ``inputs`` are the slots of the inputs, and the values of ``constants`` stay, too.
    """

    def __init__(self, device: Device, inputs: Sequence[int], constants: Collection[int]) -> None:
        self._device, self._inputs, self._constants = device, inputs, constants
        #: Places at which there were arrays, the latest ones.
        self._seen: set[Key] = set()
        self._kept: dict[Key, Recording] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def emptied(self) -> Recordings:
        """The same without any."""
        return Recordings(self._device, self._inputs, self._constants)

    def key(self, staged: Staged) -> Key:
        """Where the inputs are."""
        pairs = zip(staged.arrays, staged.stay, strict=True)
        return tuple([_place_of(x) if stays else 0 for x, stays in pairs])

    def recording(self, key: Key) -> Recording | None:
        """The recording for a key; none before a replay was launched without one."""
        found = self._kept.get(key)
        if found is None and key in self._seen:
            if len(self._kept) >= _MOST_RECORDINGS:
                del self._kept[next(iter(self._kept))]
            staying = [slot for slot, place in zip(self._inputs, key, strict=True) if place]
            found = self._kept[key] = Recording(self._device, {*staying, *self._constants})
        return found

    def launched(self, key: Key) -> None:
        """Remember that all was launched: what comes a second time is worth graphs."""
        if len(self._seen) >= 4 * _MOST_RECORDINGS:
            self._seen.clear()
        self._seen.add(key)


def _place_of(x: Any) -> Any:
    """Where an array is, and in which order its elements are there."""
    pointer = x.data.ptr
    return pointer if x.flags.c_contiguous else (pointer, x.strides)

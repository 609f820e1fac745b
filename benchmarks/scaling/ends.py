"""Where the network, nginx and Redis end: measured CPU time and bytes against their limits."""

from __future__ import annotations

from collections.abc import Mapping

from scaling.scenarios import markdown
from scaling.times import Measured, load

#: Links in bits per second.
LINKS = {"10 Gb/s": 10e9, "25 Gb/s": 25e9, "100 Gb/s": 100e9}
#: The share of a link that is filled, so that bursts do not wait.
FILLED = 0.7
#: Bytes of headers of a request and its answer, and of frames: Ethernet 38, IP and TCP 52 of each
#: 1,448 bytes of payload.
_HEADERS = 350
_FRAMES = 1 + (38 + 52) / 1448
#: Cores of a machine with nginx, and the share of them that is used.
NGINX_CORES, _USED = 8, 0.7
_KINDS = ("10 numbers, JSON", "1,000 numbers, MessagePack", "100,000 numbers, MessagePack")


def report() -> list[str]:
    """Three tables: links, nginx, Redis."""
    times = load()
    return [
        _links(times.workloads),
        _nginx(times.edge.nginx),
        _redis(times.edge.redis),
    ]


def on_the_wire(payload: int) -> float:
    """Bytes of a message with its headers and frames."""
    return (payload + _HEADERS) * _FRAMES


def _links(workloads: Mapping[str, Measured]) -> str:
    rows = []
    for name in _KINDS:
        one = workloads[name]
        larger = on_the_wire(max(one.request_bytes, one.answer_bytes))
        rates = [FILLED * bits / 8 / larger for bits in LINKS.values()]
        cores = rates[0] * one.stages["later"].mean
        rows.append([name, f"{larger:,.0f}", *[f"{rate:,.0f}" for rate in rates], f"{cores:,.1f}"])
    head = ["workload", "bytes one way", *LINKS, "cores of the service per 10 Gb/s"]
    return markdown(head, rows)


def _nginx(nginx: Mapping[str, float]) -> str:
    rows = []
    for name in _KINDS:
        plain, tls = nginx[f"{name}, plain"], nginx[f"{name}, TLS"]
        rates = [NGINX_CORES * _USED / seconds for seconds in (plain, tls)]
        rows.append(
            [name, f"{1e6 * plain:,.0f}", f"{1e6 * tls:,.0f}", *[f"{rate:,.0f}" for rate in rates]]
        )
    for how in ("plain", "TLS"):
        seconds = nginx[f"a connection, {how}"]
        rate = f"{NGINX_CORES * _USED / seconds:,.0f}"
        cells = [f"{1e6 * seconds:,.0f}", "", rate, ""]
        if how == "TLS":
            cells = ["", cells[0], "", rate]
        rows.append([f"opening a connection, {how}", *cells])
    head = "request, µs of CPU, µs with TLS, requests/s on 8 cores, with TLS"
    return markdown(head.split(", "), rows)


def _redis(redis: Mapping[str, float]) -> str:
    rows = [
        [name, f"{1e6 * seconds:,.0f}", f"{_USED / seconds:,.0f}"]
        for name, seconds in redis.items()
    ]
    return markdown(["call", "µs of CPU", "calls/s at 70 % of its one core"], rows)

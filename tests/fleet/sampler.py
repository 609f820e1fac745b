"""How long answers to small requests take, measured in a process of its own.

    python sampler.py PORT PATH SECONDS

What makes the load would measure its own delays.
"""

import json
import socket
import sys
import time

PAUSE_SECONDS = 0.002


def sampled(port: int, path: str, seconds: float) -> list[float]:
    """The seconds of each answer; an answer that is no success counts as endless."""
    request = f"GET {path} HTTP/1.1\r\nHost: gradwire\r\n\r\n".encode()
    found = []
    end = time.perf_counter() + seconds
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        while (start := time.perf_counter()) < end:
            connection.sendall(request)
            answered = connection.recv(1 << 16).startswith(b"HTTP/1.1 200 ")
            found.append(time.perf_counter() - start if answered else 1e9)
            time.sleep(PAUSE_SECONDS)
    return found


if __name__ == "__main__":
    _, port, path, seconds = sys.argv
    json.dump(sampled(int(port), path, float(seconds)), sys.stdout)

"""A replica that computes everything on a simulated GPU, as a program: ``--port``."""

import sys

import uvicorn
from gradwire_service.app import create_app
from gradwire_service.settings import Settings

from tests.fleet.simulated_gpu import open_gpu


def main() -> None:
    _, port = sys.argv[1:]
    settings = Settings(backend="cupy", gpu_placement="always", gpu_bytes=64 << 20)
    app = create_app(settings, open_gpu=open_gpu)
    uvicorn.run(app, host="127.0.0.1", port=int(port), log_level="warning")


if __name__ == "__main__":
    main()

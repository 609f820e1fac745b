ARG BASE=python:3.11-slim

# What is installed is pinned by `make lock` and comes before any code, whose changes then reinstall nothing.
FROM ${BASE} AS docs-dependencies
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
COPY deploy/image/docs.txt /
RUN python3 -m venv /docs && /docs/bin/python -m pip install --no-compile --require-hashes --requirement /docs.txt

FROM ${BASE} AS dependencies
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
WORKDIR /src
COPY deploy/image/requirements.txt deploy/image/build.txt ./
RUN python3 -m venv /venv && python3 -m venv /build \
 && /venv/bin/python -m pip install --no-compile --require-hashes --requirement requirements.txt \
 && /build/bin/python -m pip install --require-hashes --requirement build.txt

# The same with CuPy and CUDA's libraries, from wheels; the driver comes from the node.
FROM dependencies AS gpu-dependencies
COPY deploy/image/gpu.txt ./
RUN /venv/bin/python -m pip install --no-compile --require-hashes --requirement gpu.txt \
 && /venv/bin/python -m compileall -q /venv/lib/python3*/site-packages/cupy /venv/lib/python3*/site-packages/cupyx

# The same with Dask, and what reads Zarr arrays and Parquet files.
FROM dependencies AS dask-dependencies
COPY deploy/image/dask.txt ./
RUN /venv/bin/python -m pip install --no-compile --require-hashes --requirement dask.txt

# The guide, which the service shows at /guide.
FROM docs-dependencies AS guide
WORKDIR /src
COPY CHANGELOG.md ./
COPY clients/python/README.md clients/python/
COPY clients/tensorflow/README.md clients/tensorflow/
COPY docs docs
COPY service/gradwire_service/page/icon.svg service/gradwire_service/page/
COPY tools/guide.py tools/
RUN /docs/bin/python tools/guide.py /guide

FROM dependencies AS wheel
COPY pyproject.toml README.md LICENSE ./
COPY engine engine
COPY service service
COPY --from=guide /guide service/gradwire_service/static/guide
RUN /build/bin/python -m pip wheel --no-deps --no-build-isolation --wheel-dir /wheel .

FROM dependencies AS build
COPY deploy/image/install ./
COPY --from=wheel /wheel /wheel
RUN sh install

FROM gpu-dependencies AS gpu-build
COPY deploy/image/install ./
COPY --from=wheel /wheel /wheel
RUN sh install

FROM dask-dependencies AS dask-build
COPY deploy/image/install ./
COPY --from=wheel /wheel /wheel
RUN sh install

FROM ${BASE} AS runtime
# One server process and one BLAS thread per container: scale by adding replicas; the service has its own pool.
# The root file system may be read-only: the service writes only to /tmp.
ENV GRADWIRE_HOST=0.0.0.0 \
    GRADWIRE_PORT=8000 \
    GRADWIRE_LOG_LEVEL=info \
    GRADWIRE_LOG_FORMAT=json \
    OMP_NUM_THREADS=1 \
    OPENBLAS_NUM_THREADS=1 \
    PATH=/venv/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    WEB_CONCURRENCY=1
USER 10001:10001
WORKDIR /tmp
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
  CMD ["/venv/bin/python", "-c", "import os, urllib.request; urllib.request.urlopen('http://127.0.0.1:' + (os.environ['GRADWIRE_PORT'].strip() or '8000') + '/healthz', timeout=2)"]
# Exec form: the service is process 1 and receives SIGTERM itself.
ENTRYPOINT ["/venv/bin/gradwire-server"]
CMD ["serve"]

# `docker build --target gpu`: for nodes with an NVIDIA GPU and the NVIDIA Container Toolkit.
FROM runtime AS gpu
COPY --from=gpu-build /venv /venv
ENV CUDA_CACHE_PATH=/tmp/cuda \
    CUPY_CACHE_DIR=/tmp/cupy \
    GRADWIRE_BACKEND=cupy \
    NVIDIA_DRIVER_CAPABILITIES=compute,utility

# `docker build --target dask`: replicas with a Dask cluster, its scheduler and its workers.
# Dask writes no memory to disk: /tmp is memory, too, and shards that do not fit are read again.
FROM runtime AS dask
COPY --from=dask-build /venv /venv
ENV DASK_DISTRIBUTED__WORKER__MEMORY__SPILL=False \
    DASK_DISTRIBUTED__WORKER__MEMORY__TARGET=False \
    DASK_TEMPORARY_DIRECTORY=/tmp/dask

FROM runtime AS server
COPY --from=build /venv /venv

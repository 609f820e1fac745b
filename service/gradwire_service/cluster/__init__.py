"""Objectives over chunked data, evaluated by shards on an existing Dask cluster.

Importing this package imports neither Dask nor what reads files: the extra ``dask``.
"""

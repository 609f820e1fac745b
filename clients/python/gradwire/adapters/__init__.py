"""Adapters of functions that a service evaluates, each a module named after its library.

>>> import gradwire.adapters.scipy
>>> found = gradwire.adapters.scipy.minimize(loss, params, (x, y), "L-BFGS-B")

All take Python functions, those of ``gradwire.function`` and of ``gradwire.program``. A value with
its gradient is one request, and so is a whole batch where the library maps over one. A library is
imported with its adapter only; ``pip install "gradwire[jax]"`` and the like install what is needed.
"""

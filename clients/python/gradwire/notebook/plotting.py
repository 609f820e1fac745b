"""Figures of gradients, for who has matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire.errors import UsageError
from gradwire.notebook.optional import imported
from gradwire.notebook.sources import sources
from gradwire.results import Gradient
from gradwire.usage import used

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_gradients(gradients: Any, *, steps: bool | None = None) -> Figure:
    """Whether gradients vanish, explode or are not finite, at a glance: a figure of matplotlib.

    Of one answer, or of nested arrays: the norm of each source's gradient, how its elements'
    sizes are spread over the powers of ten, and the elements themselves. Of a list of answers, or
    of anything with ``steps=True``, one for each step: the norms over the steps.

    Sources are marked as vanishing or exploding whose elements are a thousand times smaller or
    larger than the median source's, by root mean square.

    Needs matplotlib, which ``gradwire[notebook]`` brings.

    >>> gradwire.plot_gradients(client.gradient(loss, parameters))
    >>> gradwire.plot_gradients(answers_of_all_steps).savefig("norms.png")
    >>> gradwire.plot_gradients([grad(w) for w in path], steps=True)
    """
    imported("matplotlib.figure", "plot_gradients")
    from gradwire.notebook.history_plot import draw_steps
    from gradwire.notebook.step_plot import draw_step

    if steps is None:
        is_list = isinstance(gradients, (list, tuple))
        steps = is_list and all(isinstance(step, Gradient) for step in gradients)
    with used("plot_gradients"):
        found = [sources(step) for step in (gradients if steps else [gradients])]
        if not any(found):
            raise UsageError("there are no gradients to draw: each of them is None, or empty")
        return draw_steps(found) if len(found) > 1 else draw_step(found[0])

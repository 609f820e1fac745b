"""Figures of gradients, by matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire.display.optional import imported
from gradwire.display.sources import sources
from gradwire.errors import UsageError
from gradwire.results import Gradient
from gradwire.usage import used

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_gradients(gradients: Any, *, steps: bool | None = None) -> Figure:
    """A matplotlib figure that shows vanishing, exploding and non-finite gradients.

    Of one answer, or of nested arrays: the norm of each source's gradient, the distribution of
    its elements' sizes over the powers of ten, and the elements themselves. Of a list of answers,
    or of any sequence with ``steps=True``: the norms over the steps.

    Sources are marked as vanishing or exploding if their elements are a thousand times smaller or
    larger than the median source's, by root mean square.

    Needs matplotlib, which ``gradwire[notebook]`` installs.

    >>> gradwire.plot_gradients(client.gradient(loss, parameters))
    >>> gradwire.plot_gradients(answers_of_all_steps).savefig("norms.png")
    >>> gradwire.plot_gradients([grad(w) for w in path], steps=True)
    """
    imported("matplotlib.figure", "plot_gradients")
    from gradwire.display.history_plot import draw_steps  # noqa: PLC0415 - they need matplotlib
    from gradwire.display.step_plot import draw_step  # noqa: PLC0415 - they need matplotlib

    if steps is None:
        is_list = isinstance(gradients, (list, tuple))
        steps = is_list and all(isinstance(step, Gradient) for step in gradients)
    with used("plot_gradients"):
        found = [sources(step) for step in (gradients if steps else [gradients])]
        if not any(found):
            raise UsageError("there are no gradients to draw: all are None or empty")
        return draw_steps(found) if len(found) > 1 else draw_step(found[0])

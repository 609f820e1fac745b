"""Sample points of frequencies and their order."""

import numpy as np

from tests.engine.ops.calls import call

X = np.linspace(-1.1, 1.9, 40).reshape(2, 5, 4)
SHIFTS, SCALES = ("fft.fftshift", "fft.ifftshift"), ("fft.fftfreq", "fft.rfftfreq")

SAMPLES = [
    *[call(name, X, axes) for name in SHIFTS for axes in (None, 1, (0, -1))],
    *[call(name, n) for name in SCALES for n in (1, 4, 5)],
    *[call(name, 5, np.array(0.3)) for name in SCALES],
]

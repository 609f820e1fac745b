"""Sample points of colours."""

import numpy as np

from tests.engine.ops.calls import call

X = np.array([[[0.1, 0.5, 0.9], [0.8, 0.3, 0.2]], [[0.3, 0.7, 0.4], [0.9, 0.15, 0.6]]])
HSV = np.array([[0.1, 0.5, 0.9], [0.45, 0.3, 0.2], [0.72, 0.8, 1.4], [0.93, 0.4, 0.6]])

SAMPLES = [
    *[call(f"rgb_to_{name}", X) for name in ("grayscale", "hsv", "yuv", "yiq")],
    *[call(f"{name}_to_rgb", HSV) for name in ("hsv", "yuv", "yiq")],
    *[call("rgb_to_hsv", X[part]) for part in ((0, 1), slice(0))],
    call("adjust_hue", X, np.array(0.13)),
    call("adjust_saturation", X, np.array(0.6)),
    call("adjust_contrast", X, np.array(1.7)),
    call("adjust_gamma", X, np.array(1.4), np.array(0.8)),
]

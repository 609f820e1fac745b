"""Sample points of colours."""

import numpy as np
from gradwire_engine.check import Call

X = np.array([[[0.1, 0.5, 0.9], [0.8, 0.3, 0.2]], [[0.3, 0.7, 0.4], [0.9, 0.15, 0.6]]])
HSV = np.array([[0.1, 0.5, 0.9], [0.45, 0.3, 0.2], [0.72, 0.8, 1.4], [0.93, 0.4, 0.6]])

SAMPLES = [
    *[Call.of(f"rgb_to_{name}", X) for name in ("grayscale", "hsv", "yuv", "yiq")],
    *[Call.of(f"{name}_to_rgb", HSV) for name in ("hsv", "yuv", "yiq")],
    *[Call.of("rgb_to_hsv", X[part]) for part in ((0, 1), slice(0))],
    Call.of("adjust_hue", X, np.array(0.13)),
    Call.of("adjust_saturation", X, np.array(0.6)),
    Call.of("adjust_contrast", X, np.array(1.7)),
    Call.of("adjust_gamma", X, np.array(1.4), np.array(0.8)),
]

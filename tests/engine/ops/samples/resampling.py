"""Sample points of images of another size."""

import numpy as np

from tests.engine.ops.calls import call

X = np.random.default_rng(40).permutation(np.linspace(-1.1, 1.9, 24)).reshape(2, 3, 4)
METHODS = "nearest linear cubic lanczos3 lanczos5 gaussian mitchellcubic area".split()

SAMPLES = [
    *[call("resize_image", X, (2, 5, 3), method) for method in METHODS],
    *[call("resize_image", X, (2, 1, 9), method, False) for method in METHODS],
    call("resize_image", X, (3, 3, 4), "bilinear"),
    call("resize_image", X[:, :1, 0], (2, 3)),
    call("resize_image", X[0, 0], (0,), "cubic"),
    call("resize_image", np.array(0.5), ()),
]

"""Sample points of images compared with each other and with themselves."""

import numpy as np

from tests.engine.ops.calls import call, calls

X = np.random.default_rng(44).permutation(np.linspace(0, 1, 60)).reshape(2, 5, 3, 2)
Y = np.random.default_rng(45).permutation(np.linspace(0, 1, 60)).reshape(2, 5, 3, 2)

SAMPLES = [
    *calls("image_gradients total_variation sobel_edges", X),
    *calls("image_gradients total_variation", X[0, :, :1]),
    call("image_gradients", X[:, :0]),
    call("psnr", X, Y, np.array(1.5)),
    call("psnr", X, Y[0], 1.0),
    call("ssim", X, Y, 1.0, 3, 0.8),
    call("ssim_multiscale", X, X * 0.9 + Y * 0.1, 1.0, (0.6, 0.4), 2, 0.8),
    call("ssim_multiscale", X, X * 0.8, np.array(1.3), (1.0,), 3),
    call("ssim", X[0], Y, np.array(1.2), filter_size=2, k1=np.array(0.02), k2=0.05),
]

"""What PyTorch's functions do not take is refused, in words that say what they do take."""

import numpy as np
import pytest
from gradwire_engine.errors import EngineError

VARIABLES = {
    "x": np.array([[0.5, -1.5, 2.0], [1.0, 0.25, -0.75]]),
    "v": np.array([3.0, 1.0, 2.0]),
    "k": np.array([2, 0]),
    "c": np.array([1 + 2j, 3 - 1j]),
}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("torch.div(x, 2, rounding_mode='up')", "rounding_mode must be None, 'trunc' or 'floor'"),
        ("torch.median(x[:, :0], 1)", "median needs elements"),
        ("torch.kthvalue(v, 0)", "kthvalue cannot take element 0 of 3"),
        ("torch.kthvalue(v, 4)", "kthvalue cannot take element 4 of 3"),
        ("torch.topk(v, 4)", "topk cannot take 4 of 3 elements"),
        ("torch.unflatten(x, 1, (2, 2))", "cannot reshape"),
        ("torch.combinations(x)", "combinations takes a vector"),
        ("torch.combinations(v, -1)", "r of at least 0"),
        ("torch.combinations(torch.arange(1000.0), 9)", "combinations would make"),
        ("torch.gather(x, 1, k)", "gather needs an index that fits"),
        ("torch.gather(x, 1, torch.zeros((3, 1), dtype=torch.int64))", "an index that fits"),
        ("torch.gather(x, 2, k[None])", "gather has no axis 2"),
        ("torch.scatter_add(x, 0, k[None], x[:, :1])", "needs as many values"),
        ("torch.scatter_reduce(x, 1, k[:, None], x, 'median')", "reduce must be 'sum'"),
        (
            "torch.scatter_reduce(x, 1, k[:, None], x, 'sum', include_self=2)",
            "include_self must be",
        ),
        ("torch.index_add(x, 3, k, x)", "has no axis 3"),
        ("torch.segment_reduce(v, 'median', lengths=[3])", "reduce must be 'sum', 'mean'"),
        ("torch.segment_reduce(v, 'sum', lengths=[1, 1])", "do not make up the rows"),
        ("torch.masked_select(x, torch.ones(4) > 0)", "broadcast"),
        ("torch.cross(v[:2], v[:2])", "cross needs an axis of length 3"),
        ("torch.t(x[None])", "t takes a matrix at most"),
        ("torch.complex(c, v[:2])", "complex"),
        ("torch.linalg.householder_product(x, v)", "householder_product got"),
        ("torch.fft.hfft2(x, norm='both')", "norm must be 'backward', 'ortho' or 'forward'"),
        ("torch.special.chebyshev_polynomial_v(x, -1)", "-1|negative|degree"),
        ("torch.stft(v, 2, 1, center=False)", "needs return_complex"),
        ("torch.stft(x[None], 2, 1, return_complex=True)", "a signal or a stack"),
        ("torch.stft(v, 2, 0, return_complex=True)", "frames of 2 cannot have windows"),
        ("torch.stft(v, 2, 1, window=v, return_complex=True)", "the window needs shape"),
        ("torch.istft(x, 4)", "istft takes complex"),
        ("torch.hann_window(-1)", "no length -1"),
        ("F.rrelu(x, training=True)", "rrelu draws no slopes"),
        ("F.pad(x, (1, 1), mode='edge')", "pad knows the modes constant, reflect, replicate"),
        ("F.pad(x, (1, 1, 1, 1, 1, 1))", "pairs for at most 2 axes"),
        ("F.pdist(v)", "pdist takes a matrix"),
        ("F.channel_shuffle(x, 2)", "cannot divide the channels"),
        ("F.layer_norm(x, (2,))", "layer_norm over"),
        ("F.cross_entropy(x, k, reduction='total')", "reduction must be 'mean', 'sum' or 'none'"),
        ("F.ctc_loss(x[None], k[:1, None], [1, 1], [1, 1])", "lengths of 2 items"),
        ("F.ctc_loss(x[None], v[None], [1, 1], [1, 1])", "targets must be integers of 2 axes"),
        ("F.ctc_loss(x[None], x[:, :1] > 0, [1, 1], [1, 1])", "targets must be integers"),
        ("F.ctc_loss(x[None], k[:, None], [1, 1], [1, 1], blank=3)", "one of 3 classes"),
        ("F.ctc_loss(x[None, :, :0], k[:, None], [1, 1], [1, 1])", "steps, items and classes"),
        ("F.cross_entropy(x, k + 7)", "an index is out of range"),
    ],
)
def test_is_refused(ask, text, message):
    with pytest.raises(EngineError, match=message):
        ask.value(text, VARIABLES)

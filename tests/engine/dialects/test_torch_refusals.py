"""Refusals of arguments that PyTorch's functions do not take: they say which they do take."""

import numpy as np
import pytest
from gradwire_engine.errors import BadArgument, EngineError, ShapeMismatch, UnknownOperation

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
        ("torch.combinations(torch.arange(1000.0), 9)", "would make int64"),
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
        ("torch.fft.hfft2(x, norm='both')", "norm must be None, 'backward', 'ortho' or 'forward'"),
        ("torch.special.chebyshev_polynomial_v(x, -1)", "-1|negative|degree"),
        ("torch.stft(v, 2, 1, center=False)", "needs return_complex"),
        ("torch.stft(x[None], 2, 1, return_complex=True)", "a signal or a stack"),
        ("torch.stft(v, 2, 0, return_complex=True)", "frames of 2 cannot have windows"),
        ("torch.stft(v, 2, 1, window=v, return_complex=True)", "the window needs shape"),
        ("torch.istft(x, 4)", "istft takes complex"),
        ("torch.hann_window(-1)", "no length -1"),
        ("F.rrelu(x, training=True)", "rrelu draws no slopes"),
        ("F.pad(x, (1, 1), mode='edge')", "mode must be 'constant', 'reflect', 'replicate'"),
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
        ("torch.max(x, (0, 1))", "max takes one axis or another array, got a tuple of integers"),
        ("torch.min(x, dim=[0])", "min takes one axis or another array, got a list of integers"),
        ("torch.flatten(v[0], 1)", "flatten has no axis 1"),
        ("torch.index_copy(x, 0, k[:1], v[0])", "moveaxis has no axis 0"),
        ("torch.zeros(3, device='cuda')", "unexpected keyword argument 'device'"),
        ("torch.sum(v[0], 1)", "sum has no axis 1 in an array of 0 axes"),
        ("torch.sum(v[0], (0, -1))", "an axis twice"),
        ("torch.chunk(v[0], 1)", "chunk has no axis 0"),
        ("torch.unbind(v[0])", "axis"),
        ("torch.fft.fft(v[0])", "no axis -1"),
        ("torch.permute(v[0], (0,))", "no axis 0"),
        ("torch.diff(v[0])", "diff has no axis -1"),
        ("np.sum(v[0], 0)", "sum has no axis 0"),
        ("np.sort(v[0])", "sort has no axis -1"),
        ("v.expand(-1, 3)", "must not have negative lengths"),
        ("x.expand(3)", "expand needs a length for each axis"),
        ("v.expand(2, 4)", "do not broadcast"),
        ("x.view(4)", "cannot reshape"),
        ("x.view(torch.int)", "shape must be an integer, got a dtype"),
        ("x.sum_to_size(2)", "do not broadcast together"),
        ("v.sum_to_size(2, 3)", "does not broadcast to"),
        ("v.unfold(0, 4, 1)", "unfold cannot take 4 of 3 elements"),
        ("v.unfold(0, 1, 0)", "in steps of 0"),
        ("v.expend(3)", "arrays have no method 'expend'"),
        ("torch.fill(x, v)", "fill takes one value"),
        ("torch.put(x, k, v)", "put needs a value for each index"),
        ("torch.put(x, k + 7, v[:2])", "an index is out of range"),
        ("torch.split_with_sizes(v, [1, 1])", "do not make up a length of 3"),
        ("torch.constant_pad_nd(v, (-2, -2))", "cannot cut off more than there is"),
        ("torch.repeat_interleave(v, 2, output_size=5)", "make up 6 parts"),
        ("torch.searchsorted(x, v)", "stacks of"),
        ("torch.searchsorted(x, x, side='up')", "side must be None, 'left' or 'right'"),
        ("torch.atleast_1d()", "missing a required argument"),
        ("torch.cdist(x, x, compute_mode='best')", "compute_mode must be 'use_mm"),
        ("torch.linalg.lstsq(x, v[:2], driver='best')", "driver must be None, 'gels'"),
        ("torch.linalg.vander(v, 1)", "N of at least 2"),
        ("torch.linalg.lu(x, pivot=False)", "largest pivots"),
        ("torch.linalg.lu_factor(x, pivot=False)", "largest pivots"),
        ("torch.lu_unpack(x, k[:1])", "a pivot for each of its diagonal"),
        ("torch.lu_unpack(x, v[:2])", "rows are numbered by integers"),
        ("torch.lu_unpack(x, k)", "an index is out of range"),
        ("torch.lu_unpack(x, k + 1)", "an index is out of range"),
        ("torch.ormqr(x, v[:1], x)", "ormqr got"),
        ("torch.linalg.householder_product(x, v[:2])", "as many rows as columns"),
        ("F.max_unpool1d(x, x[:1], 2)", "an index for each element"),
        ("F.max_unpool1d(x[:, :2], k[None] + [[0], [9]], 2)", "an index is out of range"),
        ("F.max_unpool1d(x[:, :2], [[0, 2], [0, 2]], 2, output_size=(6,))", "within a stride"),
        ("F.one_hot(k, -1)", "how many classes"),
        (
            "torch.istft(c[:, None], 2, 1, return_complex=True, onesided=True)",
            "needs all frequencies",
        ),
        ("torch.unique(x, dim=0)", "not parts along an axis"),
    ],
)
def test_is_refused(ask, text, message):
    with pytest.raises(EngineError, match=message):
        ask.value(text, VARIABLES)


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("torch.scatter_reduce(v, 0, [0, 1, 2], v, [])", BadArgument, "reduce must be .* a list"),
        ("torch.index_reduce(v, 0, [0, 1, 2], v, {})", BadArgument, "reduce must be 'sum'"),
        ("F.pad(v, [1, 1], [])", BadArgument, "mode must be 'constant', .*, got a list"),
        ("torch.fft.hfft2(x, norm=[])", BadArgument, "norm must be .*, got a list"),
        ("torch.fft.ihfftn(x, norm={})", BadArgument, "norm must be .*, got a nested variable"),
        ("torch.index_put(v, v, v)", BadArgument, r"a tuple of index arrays, got float64\[3\]"),
        ("torch.index_put(v, 0, v)", BadArgument, "a tuple of index arrays, got an integer"),
        ("torch.index_put(v, [], v)", BadArgument, "a tuple of index arrays, got a list"),
        ("torch.slice_scatter(v, v, 0, 'a')", BadArgument, "start must be an integer, got a str"),
        ("torch.slice_scatter(v, v, 0, 0, 3, 0)", BadArgument, "step of a slice cannot be 0"),
        (
            "torch.take_along_dim(x, ones((2, 2), int32), 0)",
            ShapeMismatch,
            "do not broadcast together",
        ),
        ("torch.view_as_complex(v)", ShapeMismatch, "last axis of length 2, got float64"),
        ("torch.view_as_complex(1.0)", ShapeMismatch, "last axis of length 2, got float64"),
        ("torch.masked.median(v[:1], None)", BadArgument, "axis must be an integer, got None"),
        (
            "torch.sparse.mm(torch.sparse_coo_tensor([0, 1], v[0], (2, 3)), 2)",
            ShapeMismatch,
            r"needs a vector of values .* got values of shape \(\)",
        ),
        ("F.interpolate(x[None], scale_factor=1e308)", BadArgument, "larger than any number"),
    ],
)
def test_is_refused_as_what_it_is(ask, text, error, message):
    with pytest.raises(error, match=message) as caught:
        ask.value(text, VARIABLES)
    assert type(caught.value) is error


def test_functions_that_are_methods_say_so(ask):
    with pytest.raises(UnknownOperation) as caught:
        ask.value("torch.expand(v, 2, 3)", VARIABLES)
    assert caught.value.hint == "it is a method: x.expand()"
    with pytest.raises(BadArgument) as named:
        ask.value("v.expand", VARIABLES)
    assert named.value.hint == "call it: .expand()"


def test_a_slice_from_the_end_may_be_replaced(ask):
    found = ask.value("torch.slice_scatter(v, 2 * v[:2], 0, -2)", VARIABLES)
    np.testing.assert_array_equal(found, [3.0, 6.0, 2.0])

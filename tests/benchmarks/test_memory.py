"""The kernel's peaks begin where they are forgotten."""

import numpy as np
from memory import forget_peak, peak_mib, resident_mib


def test_a_peak_is_what_was_held_for_a_while():
    forget_peak()
    before = resident_mib()
    np.ones(1 << 22).sum()  # 32 MiB, which are given back at once
    assert 30 < peak_mib() - before < 40
    assert resident_mib() - before < 10


def test_a_forgotten_peak_is_what_is_held():
    np.ones(1 << 22).sum()
    forget_peak()
    assert abs(peak_mib() - resident_mib()) < 5

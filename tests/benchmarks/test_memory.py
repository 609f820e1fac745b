"""The kernel's peak memory can be reset."""

import numpy as np
from memory import forget_peak, peak_mib, resident_mib


def test_the_peak_includes_temporary_memory():
    forget_peak()
    before = resident_mib()
    np.ones(1 << 22).sum()  # 32 MiB, which are freed immediately
    assert 30 < peak_mib() - before < 40
    assert resident_mib() - before < 10


def test_a_reset_peak_equals_the_current_memory():
    np.ones(1 << 22).sum()
    forget_peak()
    assert abs(peak_mib() - resident_mib()) < 5

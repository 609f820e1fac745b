"""The kernel's peak memory can be reset."""

from mmap import mmap

from memory import forget_peak, peak_mib, resident_mib

MIB = 1 << 20


def use(size: int) -> None:
    """Write to new pages and unmap them: an allocator might reuse pages that it has kept."""
    with mmap(-1, size) as pages:
        pages.write(bytes(size // 64) * 64)


def test_the_peak_includes_temporary_memory():
    forget_peak()
    before = resident_mib()
    use(32 * MIB)
    assert peak_mib() - before > 30
    assert resident_mib() - before < 10


def test_a_reset_peak_equals_the_current_memory():
    use(32 * MIB)
    forget_peak()
    assert abs(peak_mib() - resident_mib()) < 5

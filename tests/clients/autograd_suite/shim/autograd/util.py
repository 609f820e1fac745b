"""autograd's deprecated check."""

from __future__ import annotations

from typing import Any

from .test_util import check_grads


def quick_grad_check(f: Any, arg: Any, extra_args: Any = ()) -> None:
    check_grads(lambda x: f(x, *extra_args), modes=["rev"], order=1)(arg)

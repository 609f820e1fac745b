"""Sample points of Einstein summation."""

from typing import Any

import numpy as np

from tests.engine.ops.calls import call

RNG = np.random.default_rng(7)
SHAPES: list[tuple[Any, ...]] = [
    ("ij,jk->ik", (2, 3), (3, 4)),
    ("ij,jk", (2, 3), (3, 4)),
    ("ij,jk->ki", (2, 3), (3, 4)),
    ("i,i", (3,), (3,)),
    ("i,i->i", (3,), (3,)),
    ("i,i->i", (1,), (3,)),
    ("i,j->ji", (3,), (2,)),
    ("ii", (3, 3)),
    ("ii->i", (3, 3)),
    ("iij->j", (3, 3, 2)),
    ("iii->i", (2, 2, 2)),
    ("ij->", (2, 3)),
    ("ij->ji", (2, 3)),
    ("ij,jk->", (2, 3), (3, 4)),
    ("ij,k->ij", (2, 3), (4,)),
    ("...ij,...jk->...ik", (5, 2, 3), (3, 4)),
    ("...i,...i", (5, 3), (1, 3)),
    ("i...->...", (5, 3)),
    ("i ... , j -> ... i j", (2, 3), (4,)),
    ("ba,b...->...a", (3, 2), (3, 4)),
    ("bij,bij->b", (4, 2, 3), (4, 2, 3)),
    ("bhqd,bhkd->bhqk", (2, 3, 4, 5), (2, 3, 6, 5)),
    ("bhqk,bhkd->bqhd", (2, 3, 4, 6), (2, 3, 6, 5)),
    ("i,ij,j", (3,), (3, 2), (2,)),
    ("ab,bc,cd,de,ef,fg->ag", (2, 3), (3, 2), (2, 4), (4, 2), (2, 3), (3, 2)),
    ("ij,ij,ij->i", (2, 3), (2, 3), (2, 3)),
    ("bi,bj,bk->ijk", (4, 2), (4, 3), (4, 2)),
    ("i,,j->ij", (2,), (), (3,)),
    ("", ()),
    ("ij,jk->ik", (2, 0), (0, 3)),
]

SAMPLES = [
    call("einsum", text, *[RNG.normal(size=shape) for shape in shapes]) for text, *shapes in SHAPES
]

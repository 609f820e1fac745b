"""Attacks are made, and what others notice is measured."""

import asyncio

import fairness
import pytest


@pytest.mark.parametrize("name", [*fairness.ATTACKS][::4])
def test_others_are_answered_beside_an_attack(server, name):
    with fairness._attacking(server, name):
        seen = asyncio.run(fairness._observed(server, 0.5))
    assert min(map(len, seen[:3])) > 0

"""Rooms: never more than there is budget for, and none loses anything to one who has more."""

from collections import OrderedDict

from gradwire_engine.shared_budget import BudgetShare, SharedBudget
from hypothesis import given
from hypothesis import strategies as st

MOST = 100
TAKINGS = st.lists(st.tuples(st.integers(0, 3), st.integers(1, 60)), max_size=60)


class Pile(BudgetShare):
    """Sizes, the oldest first."""

    def __init__(self, budget):
        super().__init__(budget)
        self.sizes = OrderedDict[int, int]()
        self.ever = 0

    def __len__(self):
        return len(self.sizes)

    def drop_oldest(self):
        return self.sizes.popitem(last=False)[1]

    def put(self, size):
        with self.budget.lock:
            self.ever += 1
            self.sizes[self.ever] = size
            self.take(size)


@given(TAKINGS)
def test_what_is_taken_is_counted_and_within_the_room(takings):
    budget = SharedBudget(MOST)
    piles = [Pile(budget) for _ in range(4)]
    for whose, size in takings:
        piles[whose].put(size)
        assert [pile.taken for pile in piles] == [sum(pile.sizes.values()) for pile in piles]
        assert budget.taken == sum(pile.taken for pile in piles)
        assert budget.taken <= MOST


@given(TAKINGS, st.lists(st.integers(1, 25), max_size=4))
def test_who_keeps_to_a_fair_share_loses_nothing(takings, mine):
    budget = SharedBudget(MOST)
    modest, *others = [Pile(budget) for _ in range(4)]
    for size in mine:
        if modest.taken + size <= MOST // 4:
            modest.put(size)
    held = dict(modest.sizes)
    for whose, size in takings:
        others[whose % 3].put(size)
    assert modest.sizes == held


@given(TAKINGS)
def test_the_only_one_drops_what_is_oldest(takings):
    pile = Pile(SharedBudget(MOST))
    for _, size in takings:
        pile.put(size)
    numbers = list(pile.sizes)
    assert numbers == list(range(pile.ever - len(numbers) + 1, pile.ever + 1))


def test_what_is_larger_than_the_room_is_not_kept():
    pile = Pile(SharedBudget(MOST))
    for size in 5, 5, 3 * MOST:
        pile.put(size)
    assert not pile.sizes
    pile.put(MOST)
    assert [*pile.sizes.values()] == [MOST]

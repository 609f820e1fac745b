"""Rooms: never more than there is room for, and none loses anything to one who has more."""

from collections import OrderedDict

from gradwire_engine.room import Room, Share
from hypothesis import given
from hypothesis import strategies as st

MOST = 100
TAKINGS = st.lists(st.tuples(st.integers(0, 3), st.integers(1, 60)), max_size=60)


class Pile(Share):
    """Sizes, the oldest first."""

    def __init__(self, room):
        super().__init__(room)
        self.sizes = OrderedDict[int, int]()
        self.ever = 0

    def __len__(self):
        return len(self.sizes)

    def drop_oldest(self):
        return self.sizes.popitem(last=False)[1]

    def put(self, size):
        with self.room.lock:
            self.ever += 1
            self.sizes[self.ever] = size
            self.take(size)


@given(TAKINGS)
def test_what_is_taken_is_counted_and_within_the_room(takings):
    room = Room(MOST)
    piles = [Pile(room) for _ in range(4)]
    for whose, size in takings:
        piles[whose].put(size)
        assert [pile.taken for pile in piles] == [sum(pile.sizes.values()) for pile in piles]
        assert room.taken == sum(pile.taken for pile in piles)
        assert room.taken <= MOST


@given(TAKINGS, st.lists(st.integers(1, 25), max_size=4))
def test_who_keeps_to_a_fair_share_loses_nothing(takings, mine):
    room = Room(MOST)
    modest, *others = [Pile(room) for _ in range(4)]
    for size in mine:
        if modest.taken + size <= MOST // 4:
            modest.put(size)
    held = dict(modest.sizes)
    for whose, size in takings:
        others[whose % 3].put(size)
    assert modest.sizes == held


@given(TAKINGS)
def test_the_only_one_drops_what_is_oldest(takings):
    pile = Pile(Room(MOST))
    for _, size in takings:
        pile.put(size)
    numbers = list(pile.sizes)
    assert numbers == list(range(pile.ever - len(numbers) + 1, pile.ever + 1))


def test_what_is_larger_than_the_room_is_not_kept():
    pile = Pile(Room(MOST))
    for size in 5, 5, 3 * MOST:
        pile.put(size)
    assert not pile.sizes
    pile.put(MOST)
    assert [*pile.sizes.values()] == [MOST]

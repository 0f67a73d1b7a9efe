"""What is done to many words of a row at once."""

from samhw.sim.compiled.records import NEVER
from samhw.sim.machine_code import UNKNOWN, apart, words_at

__all__ = [
    "differ",
    "exceeds",
    "fill",
    "follow",
    "follows_until",
    "in_time",
    "moved",
    "place_of_least",
    "put",
    "raise_to",
    "total_difference",
]


@apart
def fill(address: int, count: int, word: int) -> None:
    """Sets words."""
    words = words_at(address, count)
    for k in range(count):
        words[k] = word


@apart
def follow(address: int, count: int, first: int) -> None:
    """Sets words to numbers that follow each other."""
    words = words_at(address, count)
    for k in range(count):
        words[k] = first + k


@apart
def follows_until(address: int, count: int, first: int) -> int:
    """How many words hold numbers that follow each other from `first` on."""
    words = words_at(address, count)
    other = 0
    for k in range(count):
        other |= words[k] ^ (first + k)
    if other == 0:
        return count
    same = 0
    while words[same] == first + same:
        same += 1
    return same


@apart
def differ(address: int, count: int, word: int) -> int:
    """0 if all words are this one."""
    words = words_at(address, count)
    other = 0
    for k in range(count):
        other |= words[k] ^ word
    return other


@apart
def in_time(address: int, count: int, first: int) -> int:
    """How many words, from the first on, are not beyond numbers that follow each other from `first` on."""
    words = words_at(address, count)
    late = -NEVER
    for k in range(count):
        late = max(late, words[k] - k)
    if late <= first:
        return count
    early = 0
    while words[early] <= first + early:
        early += 1
    return early


@apart
def raise_to(address: int, other: int, count: int) -> None:
    """Sets words to those of another row that are greater."""
    words, others = words_at(address, count), words_at(other, count)
    for k in range(count):
        words[k] = max(words[k], others[k])


@apart
def put(address: int, other: int, count: int, more: int) -> int:
    """Sets words to those of another row and so much more; gives how many of the first were that already."""
    words, others = words_at(address, count), words_at(other, count)
    different = 0
    for k in range(count):
        different |= words[k] ^ (others[k] + more)
    same = count
    if different:
        same = 0
        while words[same] == others[same] + more:
            same += 1
    for k in range(count):
        words[k] = others[k] + more
    return same


@apart
def exceeds(address: int, other: int, count: int, margin: int) -> int:
    """The first place in which a word and a margin are more than the one of another row, or `count`."""
    words, limits = words_at(address, count), words_at(other, count)
    least = 0
    for k in range(count):
        least = min(least, limits[k] - words[k] - margin)
    if least == 0:
        return count
    within = 0
    while words[within] + margin <= limits[within]:
        within += 1
    return within


@apart
def total_difference(address: int, other: int, count: int) -> int:
    """The sum of words less those of another row."""
    words, others = words_at(address, count), words_at(other, count)
    total = 0
    for k in range(count):
        total += words[k] - others[k]
    return total


@apart
def place_of_least(address: int, count: int) -> int:
    """The first place of the least of some words."""
    words = words_at(address, count)
    least = NEVER
    for k in range(count):
        least = min(least, words[k])
    place = 0
    while words[place] != least:
        place += 1
    return place


@apart
def move(address: int, count: int, far: int) -> None:
    """Moves words towards the front."""
    words = words_at(address - 8 * far, UNKNOWN)
    for k in range(count):
        words[k] = words[k + far]


def moved(row: int, first: int, far: int, count: int) -> int:
    """Moves this many words of a row, from the one numbered `first` on, `far` words towards its front; gives
    where word 0 would be then."""
    move(row + 8 * first, count, far)
    return row - 8 * far

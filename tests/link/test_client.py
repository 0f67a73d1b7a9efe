"""The host's end of the link, at a board in Python."""

import numpy as np
import pytest

from samhw.errors import RunError
from samhw.targets.link import MOST_WORDS, Client

from .model import ModelBoard


@pytest.fixture
def board() -> ModelBoard:
    return ModelBoard()


@pytest.fixture
def client(board: ModelBoard) -> Client:
    found = Client(board)
    assert found.hello() == 0x1234_5678
    return found


@pytest.mark.parametrize("count", [0, 1, MOST_WORDS, MOST_WORDS + 1, 2 * MOST_WORDS + 3])
def test_words_of_any_number(client: Client, board: ModelBoard, count: int) -> None:
    words = np.random.default_rng(count).integers(0, 1 << 32, count)
    client.write(16, words)
    assert np.array_equal(client.read(16, count), words)
    assert board.writes == list(range(16, 16 + 4 * count, 4))


def test_one_address(client: Client, board: ModelBoard) -> None:
    client.write(8, [1, 2, 3], fixed=True)
    assert board.writes == [8, 8, 8]
    assert client.read(8, 3, fixed=True).tolist() == [3, 3, 3]


def test_numbers_wrap(client: Client) -> None:
    for k in range(600):
        client.write(0, k)
        assert client.read(0, 1)[0] == k


def test_a_write_is_done_once(client: Client, board: ModelBoard) -> None:
    board.lose, board.lose_answers = 2, 3
    client.write(0, [7, 8])
    assert board.writes == [0, 4]
    assert client.repeats == 5


def test_silence(client: Client, board: ModelBoard) -> None:
    board.lose = 1000
    with pytest.raises(RunError, match=r"does not answer; look whether the cable is plugged in"):
        client.read(0, 1)
    assert not client.greeted
    board.lose = 0
    client.hello()
    assert client.greeted


def test_reset(client: Client, board: ModelBoard) -> None:
    board.restart()
    with pytest.raises(RunError, match="was reset in the middle of a session"):
        client.write(0, 1)
    assert board.writes == []
    client.hello()
    client.write(0, 1)


def test_refused(client: Client) -> None:
    with pytest.raises(RunError, match="refuses reads of 1 words at address 0x9000"):
        client.read(0x9000, 1)


def test_late_answers_are_dropped(client: Client, board: ModelBoard) -> None:
    client.write(0, [5])
    old = board.line
    client.read(0, 1)
    board.line = old
    client.write(4, [6])
    assert client.read(4, 1)[0] == 6


def test_another_version(board: ModelBoard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("samhw.targets.link._VERSION", 2)
    with pytest.raises(RunError, match="speaks version 1 of the link, not 2"):
        Client(board).hello()

"""The waiting cycle, from what is empty and what is full."""

from dataclasses import replace

from samhw.graph import Channel, Endpoint, Graph, Node, Payload, Port, Stream, StreamKind, waiting_cycle
from samhw.graph.liveness import deadlock
from samhw.graph.numerics import value_type

STREAM = Stream(Payload(StreamKind.VAL), 1)


def fork_join() -> Graph:
    """a feeds b and d, b feeds c, c feeds d; d also feeds e."""
    edges = [("a", "d"), ("a", "b"), ("b", "c"), ("c", "d"), ("d", "e")]
    inputs = {n: tuple(Port(f"from_{s}", STREAM) for s, t in edges if t == n) for n in "abcde"}
    return Graph(
        name="fork_join",
        value=value_type("i32"),
        nodes=tuple(Node(n, "any", {}, inputs[n], (Port("out", STREAM),)) for n in "abcde"),
        channels=tuple(Channel(Endpoint(s, "out"), Endpoint(t, f"from_{s}"), 1, 1) for s, t in edges),
        memories=(),
        tensors=(),
    )


def test_circle_in_order() -> None:
    cycle = waiting_cycle(
        fork_join(), empty={"a.out->b.from_a", "b.out->c.from_b", "c.out->d.from_c"}, full={"a.out->d.from_a"}
    )
    assert cycle == ["a.out->d.from_a", "c.out->d.from_c", "b.out->c.from_b", "a.out->b.from_a"]


def test_what_is_beside_the_circle_is_left_out() -> None:
    graph = fork_join()
    names = {channel.name for channel in graph.channels}
    cycle = waiting_cycle(graph, empty=names - {"a.out->d.from_a"}, full={"a.out->d.from_a"})
    assert "d.out->e.from_d" not in cycle
    assert len(cycle) == 4


def test_no_circle() -> None:
    graph = fork_join()
    assert waiting_cycle(graph, empty={"a.out->b.from_a"}, full=set()) == []
    assert waiting_cycle(graph, empty={"c.out->d.from_c"}, full={"a.out->d.from_a"}) == []


def test_error_names_the_mend() -> None:
    full = {"a.out->d.from_a"}
    error = deadlock(fork_join(), {"a.out->b.from_a", "b.out->c.from_b", "c.out->d.from_c"}, full)
    assert str(error) == (
        "Deadlock: these channels wait for each other in a circle: a.out->d.from_a (full), "
        "c.out->d.from_c (empty), b.out->c.from_b (empty), a.out->b.from_a (empty); "
        "make a.out->d.from_a deeper."
    )
    assert error.waiting[0] == "a.out->d.from_a"
    assert error.exit_code == 1


def test_error_without_a_circle() -> None:
    error = deadlock(replace(fork_join(), name="x"), {"a.out->b.from_a"}, ())
    assert "channels waited for: a.out->b.from_a (empty); check that their streams agree" in str(error)
    assert error.waiting == []
    assert "waited for: none" in str(deadlock(fork_join(), (), ()))

"""Where the cycles of a node went: one account that adds up, seen from outside of the node."""

import json
from collections.abc import Mapping
from pathlib import Path

from samhw.sim import ActorStats, NodeStats, account, percents
from tests.support.command import good

IN, OUT, LINK = "a.x->n.x", "n.y->b.y", "n/link"


def actor(
    firings: int, starved: Mapping[str, int], blocked: Mapping[str, int], spaced: int = 0, memory: int = 0
) -> ActorStats:
    waits = sum(starved.values()) + sum(blocked.values()) + spaced + memory
    late = {IN: memory}
    return ActorStats(firings, firings + waits, starved, blocked, spaced, 0, late)


def test_one_actor_is_told_as_it_is() -> None:
    node = NodeStats({"only": actor(50, {IN: 20}, {OUT: 10}, spaced=5, memory=5)})
    found = account(node, 100)
    assert found.causes == {
        "busy": 50, "starved": 20, "blocked": 10, "spaced": 5, "stalled": 0, "memory": 5, "done": 10
    }  # fmt: skip
    assert (found.starved, found.blocked) == ({IN: 20}, {OUT: 10})
    assert found.longest == ("starved", IN, 20)
    assert found.cycles == 100


def test_a_wait_for_another_part_counts_as_what_that_did() -> None:
    """The second part waits 40 cycles for the first, which fires in 30, is starved for 45 and blocked for 15
    of its 90: so a third of the 40 is busy, half is starved and a sixth is blocked, in whole cycles."""
    first = actor(30, {IN: 45}, {LINK: 0, OUT: 15})
    second = actor(55, {LINK: 40}, {OUT: 0})
    found = account(NodeStats({"first": first, "second": second}), 100)
    assert found.causes["busy"] == 55 + 13
    assert found.starved == {IN: 20}
    assert found.blocked == {OUT: 7}
    assert found.done == 5


def test_parts_that_wait_for_each_other_are_busy() -> None:
    first = actor(10, {IN: 0, "n/back": 30}, {LINK: 0})
    second = actor(20, {LINK: 30}, {"n/back": 0})
    found = account(NodeStats({"first": first, "second": second}), 60)
    assert found.causes["busy"] == 50
    assert found.done == 10


def test_percents_add_up() -> None:
    assert percents({"a": 1, "b": 1, "c": 1}) == {"a": 34, "b": 33, "c": 33}
    assert percents({"a": 0, "b": 0}) == {"a": 0, "b": 0}
    assert percents({"a": 2653, "b": 26, "c": 28}) == {"a": 98, "b": 1, "c": 1}


def test_terminal_json_and_trace_have_the_same_numbers(tmp_path: Path) -> None:
    """Nobody waits for a part of a node, and every row adds up."""
    paths = [tmp_path / "run.json", tmp_path / "trace.json"]
    output = good(
        "run", "spmm", "--data", "karate", "--stats", "--json", paths[0], "--trace", paths[1]
    ).stdout
    assert "/" not in output
    (region,) = json.loads(paths[0].read_text())["regions"]
    rows = [
        [cell.strip() for cell in line.strip("│\n").split("│")] for line in output.splitlines() if "│" in line
    ]
    events = json.loads(paths[1].read_text())["traceEvents"]
    names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    labels = {names[e["pid"]]: e["args"]["labels"] for e in events if e["name"] == "process_labels"}
    assert len(rows) == len(region["nodes"])
    for node, (name, firings, *shares, _) in zip(region["nodes"], rows, strict=True):
        spent = {c: sum(n.values()) if isinstance(n, dict) else n for c, n in node["spent"].items()}
        assert sum(spent.values()) == region["cycles"]
        assert (name, firings) == (node["name"], f"{node['firings']:,}")
        assert sum(map(int, shares)) == 100
        shown = (spent[cause] for cause in ("busy", "starved", "blocked", "done"))
        for share, cycles in zip(shares, shown, strict=True):
            assert abs(int(share) - 100 * cycles / region["cycles"]) < 1
        if name != "root":
            said = ", ".join(f"{cause} {cycles}" for cause, cycles in spent.items() if cycles)
            assert labels[name] == f"{said} of {region['cycles']} cycles"


def test_waves_have_the_same_cycles(tmp_path: Path) -> None:
    """A node of one part that takes a token in each firing is busy while `pop` is high."""
    paths = [tmp_path / "run.json", tmp_path / "trace.vcd"]
    good("run", "spmm", "--data", "karate", "--stats", "--json", paths[0], "--trace", paths[1])
    (region,) = json.loads(paths[0].read_text())["regions"]
    scopes: list[str] = []
    pops: dict[str, str] = {}
    high: dict[str, set[int]] = {}
    level: set[str] = set()
    cycle = 0
    for word in map(str.split, paths[1].read_text().splitlines()):
        match word:
            case ["$scope", "module", name, "$end"]:
                scopes.append(name)
            case ["$upscope", "$end"]:
                scopes.pop()
            case ["$var", _, _, number, "pop", "$end"]:
                pops[number] = scopes[-1]
            case [time] if time[0] == "#":
                for number in level:
                    high.setdefault(pops[number], set()).update(range(cycle, int(time[1:]) // 10))
                cycle = int(time[1:]) // 10
            case [change] if change[1:] in pops:
                (level.add if change[0] == "1" else level.discard)(change[1:])
    spent = {node["name"]: node["spent"] for node in region["nodes"]}
    for node in ("mul", "array_A", "array_X", "write_val_T", "write_compressed_T_j", "repeat_A_j"):
        own = set[int]().union(*(cycles for scope, cycles in high.items() if scope.startswith(f"{node}_")))
        assert len(own) == spent[node]["busy"], node
        waits = sum(sum(spent[node][cause].values()) for cause in ("starved", "blocked"))
        assert region["cycles"] - len(own) == waits + spent[node]["done"]

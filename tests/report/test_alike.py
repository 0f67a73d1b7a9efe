"""Equal layers are told of together: what is said of one holds of all, and nothing of the others is lost."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from samhw.app.report.alike import Likeness, grouped, starred
from tests.support.command import good, report

LAYERS = 6
"""More than are told of one by one."""


def chain_of(*, wide: bool = False) -> str:
    """Products and sums of rows, layer after layer, of which the third may have wider results."""
    lines = ["tensor X[b, f] : dense", *(f"tensor W{n}[f, g] : dense" for n in range(LAYERS))]
    for n in range(LAYERS):
        read, index = f"H{n - 1}" if n else "X", "wide" if wide and n == 3 else "f"
        made = "wide" if wide and n == 2 else "g"
        lines.append(f"H{n}[b, {made}] = {read}[b, {index}] * W{n}[{index}, {made}]")
        lines.append(f"S{n}[b] = H{n}[b, {made}]")
    return "\n".join(lines) + "\n"


DATA = "random:b=3,f=16,g=16"


@pytest.fixture
def chain(tmp_path: Path) -> Path:
    path = tmp_path / "chain.ein"
    path.write_text(chain_of())
    return path


@pytest.mark.parametrize(
    ("kinds", "told"),
    [
        ({f"layers_{n}_q": 1 for n in range(4)}, ["layers_*_q"] * 4),
        ({f"layers_{n}_q": 1 for n in range(3)}, ["layers_0_q", "layers_1_q", "layers_2_q"]),
        ({f"n{n}_norm_{n}": 1 for n in range(4)}, ["n0_norm_0", "n1_norm_1", "n2_norm_2", "n3_norm_3"]),
        ({f"block2_{n}_w3": 1 for n in range(5)} | {"block2_9": 1}, [*["block2_*_w3"] * 5, "block2_9"]),
        ({f"w{n}": n == 2 for n in range(5)}, ["w*", "w*", "w2", "w*", "w*"]),
    ],
    ids=["layers", "too few", "two numbers", "the number that differs", "another kind"],
)
def test_the_star_stands_for_the_one_number_in_which_names_differ(
    kinds: Mapping[str, int], told: list[str]
) -> None:
    assert [likeness.name for likeness in starred(kinds).values()] == told


def test_groups_keep_everything_in_its_order() -> None:
    groups = grouped(range(4), map(Likeness, ["a", "b", "a", "c"]))
    assert [(group.name, group.members) for group in groups] == [("a", (0, 2)), ("b", (1,)), ("c", (3,))]


def test_a_run_tells_of_all_layers_at_once(chain: Path) -> None:
    words = good("run", chain, "--data", DATA, "--fuse", "none", "--stats").stdout
    told = report("run", chain, "--data", DATA, "--fuse", "none", "--stats")
    regions = told["regions"]
    assert len(regions) == 2 * LAYERS
    assert words.count(" alike\n") == 2
    assert f"{LAYERS} W* 16x16 (256 stored each)" in words
    # What a group takes is what its regions take together.
    first, *_ = told["limits"]
    own = [region for region in regions if len(region["order"]) == 3]
    assert first["cycles"] == sum(region["model_cycles"] for region in own)
    assert first["regions"] == len(own)
    assert first["region"] == max(own, key=lambda region: region["model_cycles"])["name"]
    share = f"{first['cycles']:,} of {told['cycles']:,} cycles"
    assert f"and {len(own) - 1} alike (H*) take {share}" in first["text"]
    assert words.count("waited most for") == 2


def test_regions_of_other_extents_are_told_of_apart(chain: Path) -> None:
    """Though they share a fabric: not all of them take as long."""
    chain.write_text(
        chain_of(wide=True).replace("W2[f, g]", "W2[f, wide]").replace("W3[f, g]", "W3[wide, g]")
    )
    words = good("run", chain, "--data", f"{DATA},wide=40", "--fuse", "none").stdout
    assert "W2 16x40 (640 stored), W3 40x16 (640 stored)" in words
    assert "4 W* 16x16 (256 stored each)" in words


def test_equal_names_of_two_kinds_stay_apart(tmp_path: Path) -> None:
    """Four narrow layers, and after one that makes them wide four others."""
    wide = [16] * 5 + [40] * 5
    lines = ["tensor X[b=3, f=16] : dense"]
    lines += [f"tensor W{n}[f{n}={wide[n]}, g{n}={wide[n + 1]}] : dense" for n in range(9)]
    lines += [f"H{n}[b, g{n}] = {f'H{n - 1}' if n else 'X'}[b, f{n}] * W{n}[f{n}, g{n}]" for n in range(9)]
    path = tmp_path / "chain.ein"
    path.write_text("\n".join(lines) + "\n")
    words = good(
        "run", path, "--data", "random", "--value", "f32", "--fuse", "none", "--report", tmp_path
    ).stdout
    assert "4 W* 16x16 (256 stored each), W4 16x40 (640 stored), 4 W* 40x40 (1600 stored each)" in words
    assert words.count("    4 alike\n") == 2
    labels = [view["label"] for view in _data_of(tmp_path)["regions"]]
    assert (len(labels), labels.count("H*")) == (3, 2)


def test_a_page_has_a_box_for_all_layers(chain: Path, tmp_path: Path) -> None:
    good("run", chain, "--data", DATA, "--fuse", "none", "--report", tmp_path / "page")
    data = _data_of(tmp_path / "page")
    labels = [view["label"] for view in data["regions"]]
    assert {"H*", "S*"} <= {*labels}
    assert sum(len(view["runs"]) for view in data["regions"]) == 2 * LAYERS
    cycles = sum(region["model_cycles"] for region in data["run"]["regions"])
    assert sum(view["total"] for view in data["regions"]) == cycles


def _data_of(page: Path) -> Any:
    """What the script of a page is given."""
    return json.loads(
        re.findall(r'id="data">(.*?)</script>', (page / "index.html").read_text(), re.DOTALL)[0]
    )


def test_compile_and_its_estimate_tell_of_one_layer(chain: Path) -> None:
    options = ["compile", chain, "--data", DATA, "--fuse", "none"]
    lines = good(*options).stdout.splitlines()
    assert sum("alike (" in line for line in lines) == 2
    assert "chain_0: order b,f,g" in lines[0]
    estimate = good(*options, "--estimate").stdout
    assert estimate.count("the longest of") == 2
    assert len(report(*options, "--estimate")["regions"]) == 2 * LAYERS

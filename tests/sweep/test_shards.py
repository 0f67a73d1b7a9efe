"""A sweep in shards: merged it is the table of one run, whatever was killed; other versions are refused."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from samhw.app.cli import main
from samhw.app.sweep import Shard, State, journal_of, merge, product, sweep
from samhw.errors import InputError, RunError

AXES = {"program": ["spmv", "spmm"], "data": "random:size=6", "depth": ["auto", 2, 3, 4]}
"""With `SLACK`, 16 configurations."""
SLACK = {"slack": [0, 2]}


def command(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, list(words))
    return result.exit_code, result.output


def interrupt_at(number: int) -> Callable[[State], None]:
    def interrupt(state: State) -> None:
        if state.done == number:
            raise KeyboardInterrupt

    return interrupt


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a sweep in five shards, two of them killed and repeated, beside the same in one run."""
    folder = tmp_path_factory.mktemp("shards")
    configurations, output = list(product(AXES, SLACK)), folder / "parts.csv"
    for number in range(1, 6):
        shard = Shard(number, 5)
        if number in (2, 4):
            with pytest.raises(RunError, match="interrupted with 1 of 3"):
                sweep(configurations, output, jobs=1, shard=shard, progress=interrupt_at(1))
        if number == 4:  # Killed while it was writing a line.
            with journal_of(output, shard).open("ab") as file:
                file.write(b'{"key": "ab')
        sweep(configurations, output, jobs=1, shard=shard)
    sweep(configurations, folder / "whole.csv", jobs=2)
    return folder


def test_shards_merge_to_the_table_of_one_run_byte_for_byte(shards: Path) -> None:
    journals = sorted(shards.glob("parts.csv.*.journal"))
    assert len(journals) == 5
    assert not (shards / "parts.csv").exists()
    table = shards / "merged.csv"
    code, printed = command("merge", *map(str, journals), "-o", str(table))
    assert (code, printed) == (0, f"16 configurations: 16 right; {table}\nsamhw: wrote {table}\n")
    assert (shards / "merged.csv").read_bytes() == (shards / "whole.csv").read_bytes()


def test_what_is_missing_is_named(shards: Path) -> None:
    journals = [path for path in shards.glob("parts.csv.*.journal") if ".2-of" not in path.name]
    with pytest.raises(
        InputError, match=r"^3 of 16 configurations are missing: 'spmv .*; run samhw sweep --shard 2/5\.$"
    ):
        merge(journals)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            ("version", "another"),
            "by another version of samhw than .*: 'spmv data=random:size=6.*; measure its",
        ),
        (("key", "another"), "on other data than .*: 'spmv data=random:size=6.*; measure its shard again"),
        (("configuration", None), "is of another sweep than .*; give the shards of one"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_other_versions_are_refused_with_their_names(
    change: tuple[str, str | None], message: str, shards: Path, tmp_path: Path
) -> None:
    journals = sorted(shards.glob("parts.csv.*.journal"))
    head, *rest = journals[1].read_text().splitlines()
    said = json.loads(head)
    if change[0] == "version":
        said["head"]["version"] = change[1]
    elif change[0] == "key":
        said["head"]["points"][1]["key"] = change[1]
    else:
        said["head"]["points"].pop()
    changed = tmp_path / "changed.journal"
    changed.write_text("\n".join([json.dumps(said), *rest, ""]))
    with pytest.raises(InputError, match=f"changed.journal (was measured )?{message}"):
        merge([journals[0], changed, *journals[2:]])


def test_a_shard_goes_on_only_with_its_own_journal(shards: Path) -> None:
    """What was measured by another version, or of other axes, is neither lost nor mixed in."""
    with pytest.raises(InputError, match=r"parts\.csv\.2-of-5\.journal is the journal of other points"):
        sweep(list(product(AXES)), shards / "parts.csv", shard=Shard(2, 5))


@pytest.mark.parametrize("text", ["0/4", "5/4", "3", "a/b", "1/2/3", ""])
def test_bad_shards(text: str) -> None:
    with pytest.raises(InputError, match="from 1/64 to 64/64"):
        Shard.parse(text)


def test_bad_journals(tmp_path: Path) -> None:
    plain = tmp_path / "r.csv.journal"
    plain.write_text('{"key": "a", "outcome": {"status": "right"}}\n')
    code, printed = command("merge", str(plain), "-o", str(tmp_path / "m.csv"))
    assert code == 2
    assert "is not the journal of a shard" in printed
    code, printed = command("merge", str(tmp_path / "none"), "-o", str(tmp_path / "m.csv"))
    assert code == 2
    assert "Cannot read" in printed
    code, printed = command(
        "sweep", "spmv", "-o", str(tmp_path / "r.csv"), "--shard", "1/2", "--plot", "a.svg"
    )
    assert "A shard has no table to draw" in printed

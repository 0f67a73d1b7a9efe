"""Random cascades of two to four reductions: what is rewritten means the same, and runs.

Five hundred on demand:

    SAMHW_RANDOM_CASCADES=500 python -m pytest -n 2 tests/cascade/test_random.py
"""

import os
import random
from collections import Counter

import numpy as np
import pytest

import samhw
from samhw.errors import InputError
from samhw.lang import Program, dumps, parse
from samhw.lang.cascade import cascaded
from samhw.lang.check import check_program
from samhw.lang.reference import evaluate_program
from samhw.tensors import Tensor

CASCADES = int(os.environ.get("SAMHW_RANDOM_CASCADES", "60"))
SHARDS = 4
RUN_EVERY = 6
"""One of this many is compiled and run."""


def draw(rng: random.Random) -> str:
    """A region with some reductions over j, each of maps of elements and of earlier results."""
    mask = " where M[i, j]" if rng.random() < 0.4 else ""
    lines: list[str] = []
    scalars: list[str] = []
    maps = ["S[i, j]", "T[i, j]", "w[j]"]
    for n in range(rng.choice((2, 3, 3, 4))):
        maps_now = [*maps]
        if scalars and rng.random() < 0.7:
            d, x = rng.choice(scalars), rng.choice(maps)
            forms = ("exp({x} - {d})", "{x} / {d}", "{x} - {d}", "exp({x} * {d})", "{x} * {d}")
            form = rng.choice(forms)
            if rng.random() < 0.5:
                lines.append(f"E{n}[i, j] = {form.format(x=x, d=d)}{mask}")
                maps_now = [f"E{n}[i, j]"]
            else:
                maps_now = [form.format(x=x, d=d)]
        reduction = rng.choice(("max=", "max=", "min=", "=", "=", "="))
        operand = rng.choice(maps_now)
        if "i" not in operand.replace("exp", ""):
            operand = f"{operand} * S[i, j]"
        if reduction == "=":
            operand = f"{operand} * {rng.choice(('T[i, j]', 'w[j]', '2'))}"
            if " - d" in operand and "exp" not in operand:
                operand = f"exp({operand} * 0.1)"
        lines.append(f"d{n}[i] {reduction} {operand}{mask}")
        scalars.append(f"d{n}[i]")
    lines.append(f"y[i] = {' + '.join(scalars)}")
    declared = "tensor S[i, j]\ntensor T[i, j]\ntensor w[j]\ntensor M[i, j] : csr\n"
    used = "".join(
        line + "\n" for line in declared.splitlines() if f"{line.split()[1][0]}[" in "".join(lines)
    )
    return f"value f32\n{used}fuse {{\n" + "\n".join(lines) + "\n}\n"


def arrays(program: Program, rng: np.random.Generator) -> dict[str, np.ndarray]:
    shape = {"i": 4, "j": 20}
    given: dict[str, np.ndarray] = {
        d.name: rng.uniform(0.5, 1.5, [shape[i] for i in d.indices]) for d in program.inputs
    }
    if "M" in given:
        given["M"] = (rng.random((4, 20)) < 0.6) * 1.0
    return given


@pytest.mark.parametrize("shard", range(SHARDS))
def test_a_cascade_is_rewritten_soundly_or_left_alone(shard: int) -> None:
    seen: Counter[str] = Counter()
    for number in range(shard, CASCADES, SHARDS):
        text = draw(random.Random(number))
        try:
            program = parse(text)
        except InputError:
            seen["no program"] += 1
            continue
        segments = {"j": 5} if number % 3 == 0 else {}
        tile = 4 if number // SHARDS % 2 else 1
        mode = "finite" if number % 2 else "rescaled"
        try:
            found = cascaded(program, mode, segments, tile)
        except InputError:
            seen["no segments"] += 1
            segments, tile = {}, 1
            found = cascaded(program, mode, segments)
        check_program(found.program)
        assert parse(dumps(found.program)) == found.program
        given = arrays(program, np.random.default_rng(number))
        stored = {d.name: Tensor.from_dense(given[d.name], d.format) for d in program.inputs}
        before = evaluate_program(program, given)["y"]
        after = evaluate_program(found.program, {**stored, **found.derived(stored)})["y"]
        np.testing.assert_allclose(after, before, rtol=1e-9, err_msg=text)
        rewritten = any(f.rewritten for f in found.findings)
        seen["rewritten" if rewritten else "left alone"] += 1
        seen["rescaled"] += "recur" in dumps(found.program)
        seen["segments"] += bool(found.segmented)
        seen["tiles"] += "_tile[" in dumps(found.program)
        seen["terms"] += any("finite rank" in finding.words for finding in found.findings)
        if rewritten and number % RUN_EVERY == 0:
            lanes = segments if found.segmented else {}
            schedule = {"cascade": {"form": mode, "tile": tile}, "lanes": lanes}
            assert samhw.compile(program, schedule=schedule).run(given).check().good, text
            seen["run"] += 1
    if CASCADES >= 60:
        assert seen["rewritten"] >= 3, seen
        assert seen["left alone"] >= 1, seen
        assert seen["segments"] >= 1, seen
    if CASCADES >= 500:
        assert seen["tiles"] >= 1, seen

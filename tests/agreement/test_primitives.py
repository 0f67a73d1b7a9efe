"""Every primitive alone: model and RTL agree token for token and cycle for cycle.

The tokens and cycles of every output, the cycles in which every input could be pushed, what a writer stored
and when it committed: over random streams, random timing at every port, and channels from one token up.
"""

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

from samhw.errors import RunError
from samhw.graph.address_map import Cause
from samhw.graph.spec import kinds
from tests.support.bench import bench_primitive

from .primitive_bench import Bench, Case, Instance, Outcome
from .primitive_cases import VARIANTS, Variant, instances, random_case

pytestmark = [pytest.mark.slow, pytest.mark.verilator]

CASES = 40
"""Cases for each instance. With two instances for each of the variants above 2,000."""
TOGETHER = 16
"""Variants of a bench. All of a bench is clocked for each case; but each bench is a build."""


@pytest.fixture(scope="module")
def bench_of(request: pytest.FixtureRequest) -> Callable[[Variant], Bench]:
    """The bench of a variant. Benches have the variants that this session runs, as far as possible those of
    the same kinds, so that nothing is built in vain."""
    run = {item.name for item in request.session.items if item.path == request.path}
    variants = [variant for variant in VARIANTS if f"test_primitive[{variant.name}]" in run]

    @cache
    def bench(group: int) -> Bench:
        found: list[Instance] = []
        for variant in variants[group * TOGETHER : (group + 1) * TOGETHER]:
            found += instances(variant, np.random.default_rng([*variant.name.encode()]))
        return Bench(found)

    return lambda variant: bench(variants.index(variant) // TOGETHER)


def test_every_kind_is_here() -> None:
    assert {variant.kind for variant in VARIANTS} == set(kinds())
    assert len({variant.name for variant in VARIANTS}) == len(VARIANTS)


@pytest.mark.nightly(but=30)
@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_primitive(variant: Variant, bench_of: Callable[[Variant], Bench]) -> None:
    bench = bench_of(variant)
    rng = np.random.default_rng(sum(variant.name.encode()))
    numbers = [k for k, instance in enumerate(bench.instances) if instance.graph.name == variant.name]
    cases = [(k, random_case(variant, bench.instances[k], rng)) for k in numbers for _ in range(CASES)]
    for (number, case), outcome in zip(cases, bench.run(cases), strict=True):
        _compare(bench.instances[number], case, outcome)


def _compare(instance: Instance, case: Case, rtl: Outcome) -> None:
    node, graph, depths = instance.node, instance.graph, instance.depths
    words = {
        m.name: np.array(case.memories.get(m.name, np.zeros(m.capacity, np.int64))) for m in graph.memories
    }
    about = f"{instance.name}, depths {dict(depths)}, {case}"
    cause = None
    try:
        model = bench_primitive(
            node,
            instance.arch,
            case.inputs,
            words,
            dict.fromkeys(graph.extents, case.extent),
            case.releases,
            input_depths={port.name: depths[f"i.{port.name}"] for port in node.inputs},
            output_depths={port.name: depths[f"o.{port.name}"] for port in node.outputs},
            value=graph.value.name,
        )
    except RunError as error:
        cause = Cause[str(error).split()[0].upper()]
    if cause:
        assert rtl.error & cause, about
        return
    assert rtl.error == 0, about
    assert rtl.ended, about
    for port in node.outputs:
        expected, found = model.outputs[port.name], rtl.outputs[port.name]
        assert [token for _, token in found] == [token for _, token in expected], f"{port.name}: {about}"
        assert [cycle for cycle, _ in found] == [cycle for cycle, _ in expected], f"{port.name}: {about}"
    for port in node.inputs:
        assert rtl.pushed[port.name] == list(model.pushed[port.name]), f"{port.name}: {about}"
    assert rtl.committed == model.committed, about
    for name, stored in model.memories.items():
        assert rtl.memories[name][: len(stored)] == stored.tolist(), f"{name}: {about}"

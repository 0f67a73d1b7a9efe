"""Programs with their cascades of reductions in one pass, over lanes and tiles where they are asked for."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from samhw.lang import Access, Program
from samhw.lang.cascade.one_pass import OnePass, Rescaling
from samhw.lang.cascade.rewrite_region import CascadeFinding, RegionRewriter
from samhw.lang.cascade.segments import segmented
from samhw.lang.cascade.split_modes import CutView, CutViews
from samhw.lang.cascade.tiles import tiled
from samhw.names import Names
from samhw.tensors import Tensor

__all__ = ["Cascaded", "cascaded"]


@dataclass(frozen=True)
class Cascaded:
    """A program, what was found about its cascades, the tensors that it reads in segments and tiles, and the
    indices that count segments, each with one of the tensors and its mode."""

    program: Program
    findings: tuple[CascadeFinding, ...]
    views: tuple[CutView, ...] = ()
    segmented: Mapping[str, tuple[str, int]] = field(default_factory=dict)

    def derived(self, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """The segments and tiles that are made of some data, by name."""
        return {view.name: view.made(tensors[view.of]) for view in self.views if view.is_derived}


def cascaded(program: Program, mode: str, lanes: Mapping[str, int] | None = None, tile: int = 1) -> Cascaded:
    """The program with its cascades in one pass. A region in which an index is no name stays as it is.

    Args:
        mode: `rescaled` and `auto` rewrite what can be; `deferred` what needs no rescaling; `finite` also
            what is several sums, which may cancel; `off` nothing.
        lanes: by index. A sum that is rescaled goes over as many segments of its index.
        tile: of how many coordinates a sum is rescaled once.

    Raises:
        InputError: for lanes on the index of a cascade that has no segments, and for one that has no tiles.
    """
    findings: list[CascadeFinding] = []
    tensors = dict(program.tensors)
    names = Names(tensors)
    regions = []
    rescaled: dict[str, tuple[Rescaling, ...]] = {}
    reduced: dict[str, str] = {}
    running: dict[str, Access] = {}
    for region in program.regions:
        if region.scan is not None or not region.is_plain:
            # The reductions of a scan have an end in each step; and where an index is more than a name, it
            # is first to be made one.
            regions.append(region)
            continue
        rewriter = RegionRewriter(program, region, names, mode)
        regions.append(rewriter.region())
        findings += rewriter.findings
        tensors |= rewriter.tensors
        rescaled |= rewriter.rescaled
        reduced |= rewriter.reduced
        running |= rewriter.running
    if not any(finding.rewritten for finding in findings):
        return Cascaded(program, tuple(findings))
    # After a cut, an index counts parts. What has its extent from the index alone has it of its own before.
    tensors |= program.bind({}).tensors
    extents = {index: n for index, n in program.index_extents.items() if index not in reduced.values()}
    made = replace(program, tensors=tensors, regions=tuple(regions), written=None, index_extents=extents)
    views = CutViews(made)
    added, outputs = tensors.keys() - program.tensors.keys(), {decl.name for decl in program.outputs}
    one_pass = OnePass(made, rescaled, reduced, running, added, outputs)
    one_pass = tiled(one_pass, tile, views)
    views.along.clear()
    made, whole = segmented(one_pass, lanes or {}, views)
    findings += (
        CascadeFinding(statement.lhs.tensor, index, f"one state for all lanes of {index}, since {why}", False)
        for index, (statement, why) in whole.items()
    )
    made = _without_dead(made, outputs)
    used = tuple(view for view in views.even if view.name in made.tensors)
    along = {i: [place for place in places if place[0] in made.tensors] for i, places in views.along.items()}
    counted = {index: places[0] for index, places in along.items() if places}
    return Cascaded(made, tuple(findings), used, counted)


def _without_dead(program: Program, outputs: set[str]) -> Program:
    """The program without statements that nobody reads any more, and their tensors.

    Args:
        outputs: the tensors that are read after it.
    """
    while True:
        alive = tuple(
            replace(
                region,
                statements=tuple(
                    s for s in region.statements if s.lhs.tensor in outputs or program.is_read(s.lhs.tensor)
                ),
            )
            for region in program.regions
        )
        if alive == program.regions:
            break
        program = replace(program, regions=alive)
    used = {access.tensor for s in (*program.statements, *program.starts) for access in s.accesses}
    kept = {name: decl for name, decl in program.tensors.items() if name in used}
    return replace(program, tensors=kept, regions=tuple(r for r in program.regions if r.statements))

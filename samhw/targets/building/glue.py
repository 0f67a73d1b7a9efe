"""What joins a design to the harness of a simulator: a template for each, with the design's addresses."""

from pathlib import Path

import jinja2

from samhw.graph import PLAIN_HOST, Arch, Design, HostOptions
from samhw.graph.address_map import AddressMap, Register

__all__ = ["TEMPLATES", "glue", "rendered"]

TEMPLATES = Path(__file__).parent / "templates"
"""The sources of the harnesses."""


def glue(template: str, design: Design, arch: Arch, host: HostOptions = PLAIN_HOST, **more: object) -> str:
    """The text of a template for a design.

    Args:
        template: the name of a file of `TEMPLATES`.
        more: what only this template asks for.
    """
    address_map = AddressMap(design, arch, host)
    return rendered(
        template,
        control=int(Register.CONTROL),
        status=int(Register.STATUS),
        channels=address_map.channel_states.start,
        channel_words=len(address_map.channel_states),
        address_bits=address_map.address_bits,
        bursts=host.bursts,
        id_bits=host.id_bits,
        range_bytes=1 << address_map.address_bits,
        **more,
    )


def rendered(template: str, **facts: object) -> str:
    """The text of a template of `TEMPLATES`; a fact that it lacks is an error."""
    environment = jinja2.Environment(trim_blocks=True, undefined=jinja2.StrictUndefined)
    return environment.from_string((TEMPLATES / template).read_text(encoding="utf-8")).render(facts)

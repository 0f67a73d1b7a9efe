"""What notebooks show of a design or a run, at the size of a cell, and its graphs."""

from collections.abc import Mapping
from dataclasses import dataclass

from samhw.compiler import FusionTable
from samhw.errors import InputError
from samhw.graph import Design, to_dot, to_svg
from samhw.html import html_frame, html_scroll, html_section, html_text

__all__ = ["Drawing", "PageView", "Tables"]


@dataclass(frozen=True, repr=False)
class PageView:
    """A page of a report in a cell: it answers to clicks, searches and zooms as the page does by itself.

    Attributes:
        title: what it is of, in a line.
        page: as HTML.
    """

    title: str
    page: str

    def __repr__(self) -> str:
        return f"<PageView of {self.title}; a notebook shows it>"

    def _repr_html_(self) -> str:
        return html_frame(self.page)


class Tables(dict[str, FusionTable]):
    """The fusion table of each region, by its name."""

    def __init__(self, tables: Mapping[str, FusionTable]) -> None:
        super().__init__(tables)

    def __repr__(self) -> str:
        return f"<Tables of {', '.join(self)}>"

    def __str__(self) -> str:
        return "\n\n".join(f"{name}\n{table}" for name, table in self.items())

    def _repr_html_(self) -> str:
        parts = (html_section(name, table._repr_html_()) for name, table in self.items())
        return html_scroll("".join(parts))


@dataclass(frozen=True)
class Drawing:
    """The graphs of a design: drawn where there is a Graphviz, else as the text that it would draw."""

    design: Design

    @property
    def dot(self) -> str:
        """In Graphviz's language."""
        return to_dot(self.design)

    def __repr__(self) -> str:
        return f"<Drawing of {self.design.name}, {self.design.summary}; .dot is its text>"

    def _repr_html_(self) -> str:
        try:
            return html_scroll(to_svg(self.design))
        except InputError:
            return html_scroll(html_text(self.dot))

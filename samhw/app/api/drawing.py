"""Graphs as notebooks show them."""

from dataclasses import dataclass

from samhw.errors import InputError
from samhw.graph import Design, to_dot, to_svg
from samhw.html import html_scroll, html_text

__all__ = ["Drawing"]


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

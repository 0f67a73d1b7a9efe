"""Programs as arguments, which a shell completes."""

import click
from click.shell_completion import CompletionItem

__all__ = ["complete_programs"]


def complete_programs(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The built-in programs that begin so; or else files, by the shell."""
    from samhw.lang import built_in_names

    names = [name for name in built_in_names() if name.startswith(incomplete)]
    return [CompletionItem(name) for name in names] or [CompletionItem(incomplete, type="file")]

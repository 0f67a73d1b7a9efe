"""Programs as arguments, which a shell completes."""

import click
from click.shell_completion import CompletionItem

__all__ = ["complete_programs"]


def complete_programs(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The built-in programs that begin so; or else files, by the shell."""
    from samhw.frontend import cascade_names, kernel_names, model_names

    known = (*kernel_names(), *cascade_names(), *model_names())
    names = [name for name in known if name.startswith(incomplete)]
    return [CompletionItem(name) for name in names] or [CompletionItem(incomplete, type="file")]

"""The result files of the benchmarks: what there is, what is in one, or measured again.

Usage, from the repository's root: python -m benchmarks [NAME ..] [--update]

Without a name it lists the files of benchmarks/results. With --update each named one is measured again by its
own command, on the state that is checked out, and the pages that show it are written (docs/tables.py).
"""

import argparse
from collections.abc import Sequence

from benchmarks.common import follow, show
from benchmarks.result_files import names, read, update
from docs import tables
from samhw.errors import InputError


def main(arguments: Sequence[str] | None = None) -> None:
    """Lists, shows or measures."""
    options = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("names", nargs="*", metavar="NAME", help="of result files")
    options.add_argument("--update", action="store_true", help="measure again, and write file and pages")
    given = options.parse_args(arguments)
    if given.update and not given.names:
        options.error("name the files to measure again")
    try:
        for name in follow(given.names):
            found = update(name) if given.update else read(name)
            show(f"{found.title} ({found.commit or 'no commit'}, {found.command})", found.rows)
        if given.update:
            tables.write()
        if not given.names:
            files = {name: read(name) for name in names()}
            rows = [
                {"file": name, "commit": file.commit, "command": file.command} for name, file in files.items()
            ]
            show("benchmarks/results", rows)
    except InputError as error:
        options.exit(2, f"{options.prog}: {error}\n")


if __name__ == "__main__":
    main()

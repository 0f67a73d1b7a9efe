"""`--update` writes what passes make of the cases."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update", action="store_true", help="write the golden files anew, to be read as a diff"
    )

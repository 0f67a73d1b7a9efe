"""Takes the pictures of docs/report.md in a headless Chromium, which needs Selenium, Chromium and its driver.

Usage, from the repository's root: PYTHONPATH=. python docs/report_pictures.py
"""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from samhw.cli import main
from tests.support.browser import browser

DOCS = Path(__file__).parent

PICTURES = {
    "report": ("run gcn --report OUT", 900, ""),
    "report_tune": (
        "tune gcn --data karate --budget 20 -o OUT.toml --report OUT",
        820,
        "document.querySelectorAll('.mark')[4].focus(); pick(0)",
    ),
}
"""By the name of a picture the command that writes its page, its height, and what is done in the page."""


@contextmanager
def written(command: str) -> Iterator[Path]:
    """The page that a command writes."""
    folder = Path(tempfile.mkdtemp())
    try:
        result = CliRunner().invoke(main, command.replace("OUT", str(folder / "out")).split())
        assert result.exit_code == 0, result.output
        page = folder / "out" / "index.html"
        # The command of somebody who has no such folder.
        page.write_text(page.read_text("utf-8").replace(str(folder / "out"), "out"), "utf-8")
        yield page
    finally:
        shutil.rmtree(folder)


def take(driver: Any, name: str) -> None:
    """Takes a picture."""
    command, height, script = PICTURES[name]
    size = {"width": 1280, "height": height, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    with written(command) as page:
        driver.get(page.as_uri())
        driver.execute_script(script)
        driver.save_screenshot(str(DOCS / f"{name}.png"))


if __name__ == "__main__":
    with browser() as opened:
        for picture in PICTURES:
            take(opened, picture)

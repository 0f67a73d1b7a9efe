"""Takes the pictures of docs/report.md in a headless Chromium, which needs Selenium, Chromium and its driver.

Usage, from the repository's root: PYTHONPATH=. python docs/report_pictures.py [NAME ..], by default all
"""

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any

from click.testing import CliRunner
from PIL import Image

from samhw.app.cli import main
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

VIEWS = {
    "spmm": "run spmm --report OUT",
    "gcn": "run gcn --report OUT",
    "gcn_unfused": "run gcn --fuse none --report OUT",
    "gpt3_block": "run gpt3_block --report OUT",
    "attention_64_lanes": "run bigbird_attention --lanes i=64 --report OUT",
}
"""Pages of which the first screen is taken in each of `WIDTHS` and `SCHEMES`, by name."""
WIDTHS = (1400, 800)
SCHEMES = ("light", "dark")
COLOURS = 96
"""Of a first screen; it takes a third of the room so."""


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


def look(driver: Any, page: Path, width: int, height: int, scheme: str = "light") -> None:
    """Opens a page in a window of that size, for eyes that want it light or dark."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    preferred = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", preferred)
    driver.get(page.as_uri())


def take(driver: Any, name: str) -> None:
    """Takes a picture."""
    command, height, script = PICTURES[name]
    with written(command) as page:
        look(driver, page, 1280, height)
        driver.execute_script(script)
        driver.save_screenshot(str(DOCS / f"{name}.png"))


def take_views(driver: Any, name: str) -> None:
    """Takes the first screen of a page in all widths and schemes."""
    with written(VIEWS[name]) as page:
        for width, scheme in product(WIDTHS, SCHEMES):
            look(driver, page, width, 900, scheme)
            path = DOCS / "report" / f"{name}_{width}_{scheme}.png"
            driver.save_screenshot(str(path))
            Image.open(path).convert("RGB").quantize(COLOURS).save(path, optimize=True)


if __name__ == "__main__":
    (DOCS / "report").mkdir(exist_ok=True)
    with browser() as opened:
        for picture in sys.argv[1:] or [*PICTURES, *VIEWS]:
            (take if picture in PICTURES else take_views)(opened, picture)

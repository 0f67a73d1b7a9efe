"""A headless Chromium, where there is one."""

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

__all__ = ["browser", "errors", "first_paint", "opened"]


@contextmanager
def browser(width: int = 1280, height: int = 900) -> Iterator[Any]:
    """A window of that size; skips the test where Selenium, Chromium or its driver is missing."""
    pytest.importorskip("selenium", reason="needs the package 'selenium'")
    programs = [shutil.which(name) for name in ("chromium", "chromedriver")]
    if None in programs:
        pytest.skip("needs Chromium and its driver (Debian's packages chromium and chromium-driver)")
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = programs[0]
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(programs[1]))
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        yield driver
    finally:
        driver.quit()


def opened(driver: Any, page: Path) -> Callable[..., Any]:
    """Opens a page; gives what runs a script in it."""
    driver.get(page.absolute().as_uri())
    return driver.execute_script


def errors(driver: Any) -> list[str]:
    """What the console says of errors, and forgets."""
    return [entry["message"] for entry in driver.get_log("browser") if entry["level"] == "SEVERE"]


def first_paint(driver: Any, page: Path) -> float:
    """Milliseconds from the start of loading to the first paint with content: the least of three times, since
    the machine may have other work."""
    times = []
    for _ in range(3):
        script = opened(driver, page)
        for _ in range(100):
            found = script("return performance.getEntriesByName('first-contentful-paint')[0]?.startTime")
            if found is not None:
                times.append(float(found))
                break
            time.sleep(0.05)
    return min(times)

"""Commands as they are typed, in this process."""

import json
from typing import Any

from click.testing import CliRunner, Result

from samhw.app.cli import main


def samhw(*arguments: object) -> Result:
    """However it ends."""
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def good(*arguments: object) -> Result:
    """Which ends well."""
    result = samhw(*arguments)
    assert result.exit_code == 0, result.output
    return result


def report(*arguments: object) -> dict[str, Any]:
    """What `--json -` prints."""
    found: dict[str, Any] = json.loads(good(*arguments, "--json", "-").stdout)
    return found


def refused(*arguments: object) -> str:
    """The sentence with which bad input is refused."""
    result = samhw(*arguments)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    message = result.stderr
    assert message.startswith("samhw: ")
    assert "Traceback" not in message
    return message

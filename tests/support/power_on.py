"""Generated Verilog without the values that registers and memories have at power-on."""

import re

__all__ = ["without_initial_values"]

_REGISTER = re.compile(r"^(  +reg (?:signed )?(?:\[[^\]]*\] )?(?:\\\S+ |\w+)) *= [^;]*;$", re.MULTILINE)
_MEMORY = re.compile(
    r"^  reg \[\d+:\d+\] (\\\S+ |\w+) ?\[\d+:\d+\];\n  initial begin\n(?:    .*\n)*  end\n", re.MULTILINE
)
_LOOP = re.compile(r"^  initial for .*\n", re.MULTILINE)
_MODULE = re.compile(r"^module .*?^endmodule$", re.MULTILINE | re.DOTALL)


def without_initial_values(text: str) -> str:
    """The text of modules. Tables that nothing writes keep their words."""
    return _MODULE.sub(lambda module: _without(module[0]), text)


def _without(module: str) -> str:
    def memory(match: re.Match[str]) -> str:
        is_written = re.search(rf"{re.escape(match[1].strip())} ?\[.*\](?:\[.*\])? <=", module)
        return match[0][: match[0].index("  initial")] if is_written else match[0]

    return _LOOP.sub("", _MEMORY.sub(memory, _REGISTER.sub(r"\1;", module)))

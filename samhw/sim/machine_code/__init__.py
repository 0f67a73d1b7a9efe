"""Functions of words in a small subset of Python, as machine code that is made in milliseconds by LLVM."""

from samhw.sim.machine_code.code_cache import address_of, prepare
from samhw.sim.machine_code.expression_values import Untranslatable
from samhw.sim.machine_code.fingerprint import function_key
from samhw.sim.machine_code.intrinsics import (
    UNKNOWN,
    Record,
    Table,
    apart,
    call,
    local_words,
    real_of,
    word_of,
    words_at,
)

__all__ = [
    "UNKNOWN",
    "Record",
    "Table",
    "Untranslatable",
    "address_of",
    "apart",
    "call",
    "function_key",
    "local_words",
    "prepare",
    "real_of",
    "word_of",
    "words_at",
]

"""The SAMML graph IR: what the compiler emits and every backend reads. Plain data, no behaviour of its own."""

from samhw.graph.arch import Arch
from samhw.graph.ir import (
    Channel,
    Endpoint,
    Graph,
    Memory,
    MemoryRole,
    Node,
    Port,
    Stream,
    StreamKind,
    TensorBinding,
)
from samhw.graph.token import DONE, EMPTY, STOP, VAL, GrammarChecker, Kind, Token, check_stream, stop

__all__ = [
    "DONE",
    "EMPTY",
    "STOP",
    "VAL",
    "Arch",
    "Channel",
    "Endpoint",
    "GrammarChecker",
    "Graph",
    "Kind",
    "Memory",
    "MemoryRole",
    "Node",
    "Port",
    "Stream",
    "StreamKind",
    "TensorBinding",
    "Token",
    "check_stream",
    "stop",
]

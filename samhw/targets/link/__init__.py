"""The host's end of the link of docs/link.md."""

from samhw.targets.link.client import MOST_WORDS, Client
from samhw.targets.link.transport import SerialPort, Transport, load_pyserial

__all__ = ["MOST_WORDS", "Client", "SerialPort", "Transport", "load_pyserial"]

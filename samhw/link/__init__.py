"""The host's end of the link of docs/link.md."""

from samhw.link.client import MOST_WORDS, Client
from samhw.link.serial_port import SerialPort
from samhw.link.transport import Transport

__all__ = ["MOST_WORDS", "Client", "SerialPort", "Transport"]

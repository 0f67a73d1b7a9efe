"""A serial port through pyserial, or rather through something with its interface."""

import sys
from types import SimpleNamespace

import pytest

from samhw.errors import InputError, RunError
from samhw.targets.link import SerialPort


class FakeError(OSError):
    """SerialException is an OSError too."""


class FakePort:
    """What pyserial's `serial_for_url` gives, as in its documentation."""

    def __init__(self, name: str, **options: object):
        if name == "/dev/none":
            raise FakeError("no such port")
        self.options = options
        self.timeout = options["timeout"]
        self.waiting = b"hello"
        self.written = b""
        self.closed = self.unplugged = False

    @property
    def in_waiting(self) -> int:
        return len(self.waiting)

    def read(self, size: int) -> bytes:
        if self.unplugged:
            raise FakeError("device disconnected")
        found, self.waiting = self.waiting[:size], self.waiting[size:]
        return found

    def write(self, data: bytes) -> None:
        if self.unplugged:
            raise FakeError("device disconnected")
        self.written += data

    def reset_input_buffer(self) -> None:
        self.waiting = b""

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def pyserial(monkeypatch: pytest.MonkeyPatch) -> None:
    module = SimpleNamespace(SerialException=FakeError, serial_for_url=FakePort)
    monkeypatch.setitem(sys.modules, "serial", module)


@pytest.mark.usefixtures("pyserial")
def test_bytes() -> None:
    port = SerialPort("/dev/one", 3_000_000)
    assert port._port.options == {"baudrate": 3_000_000, "timeout": 0, "exclusive": True}
    assert port.receive(0.5) == b"hello"
    assert port._port.timeout == 0.5
    assert port.receive(0.1) == b""
    port.send(b"abc")
    assert port._port.written == b"abc"
    port._port.waiting = b"old"
    port.discard()
    assert port.receive(0.1) == b""
    port.close()
    assert port._port.closed


@pytest.mark.usefixtures("pyserial")
def test_no_such_port() -> None:
    with pytest.raises(InputError, match=r"/dev/none cannot be opened \(no such port\); look whether"):
        SerialPort("/dev/none", 9600)


@pytest.mark.usefixtures("pyserial")
def test_unplugged() -> None:
    port = SerialPort("/dev/one", 3_000_000)
    port._port.unplugged = True
    for act in (lambda: port.send(b"x"), lambda: port.receive(1)):
        with pytest.raises(RunError, match=r"is gone .*; plug the cable in again, and repeat the run"):
            act()


def test_without_pyserial(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "serial", None)
    with pytest.raises(InputError, match=r"pip install 'samhw\[board\]'"):
        SerialPort("/dev/one", 9600)

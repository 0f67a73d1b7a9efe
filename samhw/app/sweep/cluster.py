"""Configurations measured on a cluster, by the workers of a Dask scheduler."""

import logging
from collections.abc import Generator, Sequence
from concurrent.futures import CancelledError
from typing import Any

from samhw.app.sweep.configuration import Configuration, version_digest
from samhw.app.sweep.outcome import Outcome, crashed, outcome
from samhw.errors import InputError, RunError

__all__ = ["run_on_cluster"]

PATIENCE = 10
"""Seconds in which a scheduler must answer."""


def run_on_cluster(
    tasks: Sequence[tuple[str, Configuration]], address: str
) -> Generator[tuple[str, Outcome]]:
    """The key and the outcome of each task, as they are finished by the scheduler at an address.

    The workers need this samhw, and the files of the configurations under the same paths.

    Raises:
        InputError: if Dask is missing, no scheduler answers, or a worker has another samhw.
        RunError: if the scheduler goes away.
    """
    try:
        from distributed import Client, as_completed
        from distributed.comm import get_address_host_port
    except ImportError:
        raise InputError("A cluster needs Dask; install it with pip install 'samhw[cluster]'.") from None
    # It would print how it loses a scheduler, which is said here in a sentence.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    try:
        get_address_host_port(address)  # A client asks for it too, and falls over its own end.
        client = Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InputError(
            f"No Dask scheduler answers at {address} ({error}); start one with 'dask scheduler' and give "
            "the address that it prints."
        ) from error
    try:
        with client:
            _check_workers(client.run(version_digest, on_error="return"))
            keys = {
                client.submit(outcome, configuration.anywhere(), key=f"samhw-{key}"): key
                for key, configuration in tasks
            }
            for future in as_completed(list(keys), loop=client.loop):
                yield keys.pop(future), _result(future)
                future.release()
    except (CancelledError, OSError):
        raise RunError(
            f"The Dask scheduler at {address} went away; the same command goes on when it is back."
        ) from None


def _result(future: Any) -> Outcome:
    try:
        found: Outcome = future.result()
    except (CancelledError, OSError):
        raise
    except Exception as error:
        # What a configuration raises is in its outcome; this is a worker that died, again and again.
        return crashed(f"{type(error).__name__}: {error}")
    return found


def _check_workers(versions: dict[str, object]) -> None:
    for worker, version in versions.items():
        if version != version_digest():
            what = f"lacks samhw ({version})" if isinstance(version, Exception) else "has another samhw"
            raise InputError(f"The Dask worker {worker} {what}; install this one there.")

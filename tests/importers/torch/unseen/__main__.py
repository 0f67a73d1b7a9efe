"""How many of the modules are right: each is imported, run in the simulator and checked, as a user would.

Prints a line of JSON for each: what became of it (right, wrong, refused, error, slow), in how many cycles
and seconds of processor time, and the message if there is one. The check is samhw's own; outputs are compared
with the module's as well, since a check may be wrong.

Usage, from the repository's root: python -m tests.importers.torch.unseen [NAME ...] [--schedule auto]
[--seconds 120]
"""

import argparse
import copy
import json
import signal
import time
import traceback
import warnings

import torch

import samhw.torch
from samhw.errors import InputError, RunError
from tests.importers.torch.unseen import UNSEEN


class _SlowError(BaseException):
    """Out of time; no `except Exception` on the way takes it for its own."""


def _stop(*_):
    raise _SlowError


def far(found, wanted) -> bool:
    """Whether outputs are too far from the module's for f32."""
    leaves = zip(*(torch.utils._pytree.tree_leaves(x) for x in (found, wanted)), strict=True)
    return not all(
        torch.allclose(f.double(), w.double(), rtol=1e-3, atol=1e-3, equal_nan=True)
        for f, w in leaves
        if isinstance(f, torch.Tensor) and isinstance(w, torch.Tensor)
    )


def outcome(name: str, options: dict, seconds: float) -> dict:
    module, arguments = UNSEEN[name]()
    with torch.no_grad():
        wanted = copy.deepcopy(module)(*copy.deepcopy(arguments))
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    start = time.process_time()
    row = {"name": name}
    try:
        found = samhw.torch.compile(module, arguments, value="f32", **options).run()
        row |= {"cycles": found.cycles}
        found.check()
        row |= {"is": "wrong" if far(found.output, wanted) else "right"}
    except InputError as error:
        row |= {"is": "refused", "message": str(error)}
    except RunError as error:
        row |= {"is": "wrong", "message": str(error)}
    except _SlowError:
        row |= {"is": "slow"}
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        row |= {
            "is": "error",
            "message": f"{type(error).__name__}: {error} ({place.filename}:{place.lineno})",
        }
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return row | {"seconds": round(time.process_time() - start, 1)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--schedule")
    parser.add_argument("--seconds", type=float, default=120)
    given = parser.parse_args()
    options = {} if given.schedule is None else {"schedule": given.schedule}
    signal.signal(signal.SIGVTALRM, _stop)
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    for name in UNSEEN:
        if not given.names or any(name.startswith(prefix) for prefix in given.names):
            print(json.dumps(outcome(name, options, given.seconds)), flush=True)


if __name__ == "__main__":
    main()

"""Programs bound to data, and compiled with room for it."""

from samhw.workload.bind import make_workload
from samhw.workload.compile import compile_workload, job_of
from samhw.workload.data import DEFAULT, SYNTHETIC
from samhw.workload.effort import Effort, predict_effort
from samhw.workload.model import make_model_workload
from samhw.workload.named import bind_program
from samhw.workload.saved import SavedDesign, fingerprint
from samhw.workload.workload import Workload

__all__ = [
    "DEFAULT",
    "SYNTHETIC",
    "Effort",
    "SavedDesign",
    "Workload",
    "bind_program",
    "compile_workload",
    "fingerprint",
    "job_of",
    "make_model_workload",
    "make_workload",
    "predict_effort",
]

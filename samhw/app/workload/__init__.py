"""Programs bound to data, and compiled with room for it."""

from samhw.app.workload.bind import make_workload
from samhw.app.workload.bind_named import bind_program, make_model_workload, stand_ins_for
from samhw.app.workload.effort import Effort, predict_effort
from samhw.app.workload.saved import SavedDesign, fingerprint
from samhw.app.workload.workload import DEFAULT, JUDGES, SYNTHETIC, Workload, compile_workload, job_of

__all__ = [
    "DEFAULT",
    "JUDGES",
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
    "stand_ins_for",
]

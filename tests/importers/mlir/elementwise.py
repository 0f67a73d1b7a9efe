"""Functions of one body, run on the simulator and by the interpreter."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from samhw.app.workload import compile_workload
from samhw.app.workload.mlir import workload_of
from samhw.importers.mlir import choose_function, interpret, read_module
from samhw.targets.backends import MODEL, run

Array = npt.NDArray[Any]


def body_text(body: str, taken: Sequence[str], gives: str, size: int) -> str:
    """A function of vectors; the body makes %r of the elements %a, %b, ..."""
    names = "abcdefg"[: len(taken)]
    kinds = [f"tensor<{size}x{kind}>" for kind in taken]
    maps = ", ".join(["affine_map<(i) -> (i)>"] * (len(taken) + 1))
    given = ", ".join(f"%v{name}: {kind}" for name, kind in zip(names, kinds, strict=True))
    elements = "".join(f"%{name}: {kind}, " for name, kind in zip(names, taken, strict=True))
    ins = f"ins({', '.join(f'%v{name}' for name in names)} : {', '.join(kinds)})"
    return f"""func.func @f({given}) -> tensor<{size}x{gives}> {{
  %e = tensor.empty() : tensor<{size}x{gives}>
  %y = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel"]}}
      {ins} outs(%e : tensor<{size}x{gives}>) {{
  ^bb0({elements}%o: {gives}):
    {body}
    linalg.yield %r : {gives}
  }} -> tensor<{size}x{gives}>
  return %y : tensor<{size}x{gives}>
}}"""


def results(text: str, arrays: Sequence[Array], folder: Path) -> tuple[Array, Array]:
    """What a function of vectors gives on the simulator, and by the interpreter."""
    module = read_module(text, "t.mlir")
    function = choose_function(module, None)
    data = []
    for (name, _), array in zip(function.arguments, arrays, strict=True):
        np.save(folder / f"{name[1:]}.npy", array)
        data.append(f"{name[1:]}={folder / name[1:]}.npy")
    workload = workload_of(module, function, data)
    compiled = compile_workload(workload)
    outputs = run(compiled, workload.tensors, MODEL).outputs
    (declared,) = workload.program.outputs
    found = outputs[declared.name].to_dense()
    held = {
        name[1:]: np.asarray(a, np.float64) for (name, _), a in zip(function.arguments, arrays, strict=True)
    }
    (meant,) = interpret(module, function, held)
    return np.asarray(found, np.float64), meant

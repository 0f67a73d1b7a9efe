"""Random cascades by the form that becomes of them, for every value type, with data that suits it."""

import random

import numpy as np

from samhw.lang import Program

__all__ = ["FORMS", "VALUES", "cascade_data", "cascade_text", "has_form"]

FORMS = ("rescaled", "deferred", "finite", "segments", "tiles", "top")
VALUES = ("i32", "fixed<24,8>", "bf16", "f32", "f8e4m3", "f8e5m2")

EXTENTS = {"i": 3, "j": 8, "v": 2, "r": 3}


def has_form(form: str, value: str) -> bool:
    """Whether a type has what a form needs: integers have no exponentials, and no quotients."""
    return form not in ("rescaled", "tiles") or value != "i32"


def cascade_text(rng: random.Random, form: str, value: str) -> str:
    """A region with two to four reductions over j."""
    is_exact = value == "i32"
    mask = " where M[i, j]" if form != "top" and rng.random() < 0.3 else ""
    element = rng.choice(("S[i, j]", "S[i, j] + T[i, j]", "w[j] * S[i, j]", "S[i, j] - w[j]"))
    if form == "segments":
        form = "deferred" if is_exact else rng.choice(("rescaled", "deferred"))
        # A segment may have nothing of a mask, which is a reason for a refusal of extremes that are deferred.
        mask = mask if form == "rescaled" else ""
    lines = [f"x[i, j] = {element}{mask}"]
    if form in ("rescaled", "tiles", "top"):
        lines += _softmax(rng, mask, is_exact)
    if form == "deferred":
        lines += _deferred(rng, mask, is_exact)
    if form == "finite":
        lines += _finite(rng, mask)
    if form == "top":
        lines += _ranked(rng, is_exact)
    body = "\n".join(f"  {line}" for line in lines)
    stored = ("S[i, j]", "T[i, j]", "w[j]", "V[j, v]", "M[i, j] : csr")
    tensors = "".join(f"tensor {decl}\n" for decl in stored if f"{decl[0]}[" in body)
    ranked = ("best[i, r=3]", "places[i, r=3]")
    tensors += "".join(f"tensor {decl}\n" for decl in ranked if f"{decl.split('[')[0]}[" in body)
    return f"value {value}\n{tensors}fuse {{\n{body}\n}}\n"


def _softmax(rng: random.Random, mask: str, is_exact: bool) -> list[str]:
    if is_exact:
        return [f"m[i] max= x[i, j]{mask}"]
    extreme, difference = rng.choice((("max=", "x[i, j] - m[i]"), ("min=", "m[i] - x[i, j]")))
    lines = [
        f"m[i] {extreme} x[i, j]{mask}",
        f"E[i, j] = exp({difference}){mask}",
        f"l[i] = E[i, j] * {rng.choice(('1', 'T[i, j]', 'w[j]'))}{mask}",
    ]
    more = (
        f"y[i] = E[i, j] * T[i, j] / l[i]{mask}",
        f"O[i, v] = E[i, j] * V[j, v]{mask}",
        f"O[i, v] = E[i, j] / l[i] * V[j, v]{mask}",
    )
    return lines + rng.sample(more[:2], rng.choice((0, 1, 2))) if rng.random() < 0.6 else [*lines, more[2]]


def _deferred(rng: random.Random, mask: str, is_exact: bool) -> list[str]:
    scale = rng.choice(("* n[i]", "* (n[i] + 1)") if is_exact else ("/ n[i]", "* n[i]", "/ (n[i] + 2)"))
    lines = [
        f"n[i] {rng.choice(('=', 'max='))} T[i, j] * S[i, j]{mask}",
        f"y[i] = x[i, j] {scale}{mask}",
        f"O[i, v] = x[i, j] * V[j, v] {scale}{mask}",
        f"z[i] max= x[i, j] + n[i]{mask}",
    ]
    return [lines[0], *rng.sample(lines[1:], rng.choice((1, 2, 3)))]


def _finite(rng: random.Random, mask: str) -> list[str]:
    away = rng.choice(("x[i, j] - m[i]", "m[i] - x[i, j]", "x[i, j] + 2 * m[i]"))
    weight = rng.choice(("", "T[i, j] * ", "w[j] * "))
    lines = [
        f"m[i] = x[i, j]{mask}",
        f"D[i, j] = {away}{mask}",
        f"y[i] = {weight}D[i, j] * D[i, j]{mask}",
    ]
    return [*lines, f"z[i] = D[i, j] * T[i, j]{mask}"] if rng.random() < 0.5 else lines


def _ranked(rng: random.Random, is_exact: bool) -> list[str]:
    ranked = "x[i, j] + m[i]" if is_exact else rng.choice(("E[i, j] / l[i]", "E[i, j]", "x[i, j] + m[i]"))
    lines = (
        f"best[i, r] {rng.choice(('top=', 'bottom='))} {ranked}",
        f"places[i, r] {rng.choice(('argtop=', 'argbottom='))} {ranked}",
        f"p[i] {rng.choice(('argmax=', 'argmin='))} {ranked}",
    )
    return rng.sample(lines, rng.choice((1, 2, 3)))


def cascade_data(program: Program, value: str, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Positive numbers, small enough for no integer to overflow; of a mask, some rows may be empty."""
    found = {}
    for decl in program.inputs:
        shape = [EXTENTS[index] for index in decl.indices]
        if decl.name == "M":
            found[decl.name] = (rng.random(shape) < 0.6) * 1.0
        elif value == "i32":
            found[decl.name] = rng.integers(1, 6, shape).astype(float)
        else:
            found[decl.name] = rng.uniform(0.5, 1.5, shape)
    return found

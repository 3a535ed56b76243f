"""Formulas of docstrings, as they are printed: Greek letters, indices, powers. No widgets here."""

from __future__ import annotations

import inspect
import re
from html import escape
from typing import Any, Final

from ...base.words import without_count

GREEK: Final = {
    "alpha": "α",
    "beta": "β",
    "gamma": "γ",
    "delta": "δ",
    "epsilon": "ε",
    "eta": "η",
    "theta": "θ",
    "lambda": "λ",
    "mu": "μ",
    "xi": "ξ",
    "pi": "π",
    "rho": "ρ",
    "sigma": "σ",
    "phi": "φ",
    "psi": "ψ",
    "omega": "ω",
}
_LETTERS: Final = re.compile(rf"(?<![A-Za-z])({'|'.join(GREEK)})(?=\d|_|\b)")
_WORDS: Final = r" (?:and|along|being|for|it|keeps|of|with) "  # with which a sentence goes on after its equation
_END: Final = rf"(?=;|(?<=\S)\.(?:\s|$)|,? \((?:[a-z]{{3,}}) |, (?:an|[a-z]{{3,}}) |{_WORDS}|$)"
_EQUATION: Final = re.compile(rf"(?<![\w.])((?:[A-Za-z]\w*'*|\|\w+\|) = .+?){_END}")
_REFERENCE: Final = re.compile(r",? ?\[[A-Z]\w*\d{4}[a-z]?[^\]]*\](?:, (?:eqs?\.|section|Table) [\w.-]*\w)?")


def documented(thing: Any) -> str:
    """The docstring of a class, or a docstring, in one line per paragraph, without references and indented code.

    How many equations there are is told by the table beside it.
    """
    text = thing if isinstance(thing, str) else inspect.getdoc(thing) or ""
    paragraphs = [part for part in text.split("\n\n") if not part.startswith(("    ", "Parameters\n"))]
    return "\n".join(without_count(_REFERENCE.sub("", " ".join(part.split()))) for part in paragraphs)


def headline(law: str) -> str:
    """The first equation of a text, such as "C = r_j - r_i"; empty if there is none."""
    found = _EQUATION.search(law.replace("\n", " "))
    return found[1].strip().rstrip(",") if found else ""


def printed(text: str) -> str:
    """A text with formulas as rich text."""
    shown = escape(text, quote=False)
    shown = _LETTERS.sub(lambda match: GREEK[match[1]], shown)
    shown = re.sub(r"(?<=[A-Za-zα-ω])_([A-Za-z0-9α-ω]{1,3})(?!\w)", r"<sub>\1</sub>", shown)
    shown = re.sub(r"\^(-?\d+|[A-Za-z]\b)", r"<sup>\1</sup>", shown)
    shown = re.sub(r"(?<=[\w>)])''(?!\w)", "″", shown)
    shown = re.sub(r"(?<=[\w>)])'(?!\w)", "′", shown)
    shown = re.sub(r"\bsqrt\b", "√", shown)
    shown = shown.replace(" . ", " · ").replace(" - ", " − ").replace("(-", "(−").replace("= -", "= −")
    return re.sub(r"`([^`]*)`", r"<i>\1</i>", shown).replace("\n", "<br>")

"""Sentences of the constraints tab."""

from __future__ import annotations

from collections import Counter
from html import escape
from typing import Any

from ...base.names import one_line
from .tasks import ConstraintsFound


def verdict(found: ConstraintsFound) -> str:
    """Freedoms and rank in a sentence or two."""
    freedom = found.freedom
    if found.nonholonomic:
        text = f"{_number(len(found.positions), 'freedom')} of position, {len(found.velocities)} of velocity."
    elif freedom.count:
        text = f"The mechanism has {_number(freedom.count, 'freedom')}."
    else:
        text = "Nothing can move."
    if not freedom.equations:
        text += " There are no joints."
    elif freedom.redundant:
        text += f" {_redundant(freedom)}"
    else:
        text += f" All {freedom.equations} equations of its joints are independent."
    if found.closed:
        text += " Joints were open and have been closed for this."
    return text


def _redundant(freedom: Any) -> str:
    verb = "follows" if freedom.redundant == 1 else "follow"
    return f"{freedom.redundant} of {_number(freedom.equations, 'equation')} of its joints {verb} from the others."


def details(found: ConstraintsFound, color: str) -> str:
    """Dependencies by joint and reactions that are not unique, as rich text in which joints are links of a colour."""
    freedom = found.freedom

    def link(name: str) -> str:
        return f"<a href='{escape(name, quote=True)}' style='color:{color}'>{escape(one_line(name))}</a>"

    if not freedom.redundant:
        words = "No joint repeats what others do already, and all reactions are determined by the motion."
        return _slip(found) + f"<p>{words}</p>" + _singular(freedom)
    alike = Counter(tuple(parts.items()) for parts in freedom.dependencies)
    rows = []
    for parts, times in alike.items():
        joints = ", ".join(f"{link(name)} {share:.0%}" if share < 0.995 else link(name) for name, share in parts)
        rows.append(f"<li>{f'{times} × ' if times > 1 else ''}{joints}</li>")
    others = [name for name in freedom.joints_involved if name not in freedom.unique_reactions]
    text = f"<p><b>Dependencies</b></p><ul style='margin-left:-24px'>{''.join(rows)}</ul>"
    if others:
        text += (
            f"<p><b>Reactions that are not unique</b><br>{', '.join(map(link, others))}: rigid bodies share loads "
            "there in a way that only their elasticity could decide. The motion is unique all the same.</p>"
        )
    else:
        text += "<p>All reactions are unique nevertheless.</p>"
    return _slip(found) + text + _singular(freedom)


def _singular(freedom: Any) -> str:
    if not freedom.singular:
        return ""
    return f"<p><b>Singular position</b><br>{escape(freedom.singular[:1].upper() + freedom.singular[1:])}.</p>"


def _slip(found: ConstraintsFound) -> str:
    if not found.nonholonomic:
        return ""
    return "<p>Rolling without slip holds velocities, not positions: manoeuvres lead to more places than one move.</p>"


def _number(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"

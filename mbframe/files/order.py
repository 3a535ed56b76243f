"""An order in which everything stands behind what it refers to."""

from __future__ import annotations

from collections.abc import Collection, Mapping


def by_dependency(references: Mapping[str, Collection[str]]) -> tuple[list[str], list[str]]:
    """The keys in their own order, but each behind those it refers to; and the keys whose references form a circle.

    References to what is no key are ignored.
    """
    order: dict[str, None] = {}
    circular: dict[str, None] = {}
    for first in references:
        if all(other in order or other not in references for other in references[first]):  # as in most files
            order[first] = None
            continue
        # Depth first, with a stack of our own: a chain of references may be as long as a file.
        stack, path = [(first, iter(references[first]))] if first not in order else [], {first}
        while stack:
            key, waiting = stack[-1]
            for other in waiting:
                if other in path:
                    circular[other] = None
                elif other in references and other not in order:
                    path.add(other)
                    stack.append((other, iter(references[other])))
                    break
            else:
                stack.pop()
                path.discard(key)
                order[key] = None
    return list(order), list(circular)

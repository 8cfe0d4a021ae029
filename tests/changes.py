"""Changes of a recorded machine, as the examples of manual pages have them."""

import copy
from typing import Any


def apply(facts: dict[str, Any], changes: tuple[tuple[str, Any], ...]) -> dict[str, Any]:
    """Apply an example's changes to a deep copy of a machine's facts (plain JSON values), and return it.

    ``gpus.gpus[0].ecc_enabled`` follows fields and list positions; missing dictionaries are created; a fact set to null means
    that its probe failed.

    Raises:
        ValueError: a path does not exist.
    """
    changed = copy.deepcopy(facts)
    for path, shared in changes:
        value = copy.deepcopy(shared)
        *way, last = path.replace("[", ".").replace("]", "").split(".")
        place: Any = changed
        try:
            for part in way:
                place = place[int(part)] if isinstance(place, list) else place.setdefault(part, {})
            if isinstance(place, list):
                place[int(last)] = value
            else:
                place[last] = value
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise ValueError(f"path in an example not found: {path} ({error})") from error
    return changed

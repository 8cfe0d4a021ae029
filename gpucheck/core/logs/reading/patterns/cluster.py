"""Several workers: TF_CONFIG, the network between them, and versions that differ."""

import re


def _server(match: "re.Match[str]") -> dict[str, str] | None:
    return {"message": match[0].replace("\\", ""), "source": "server"}

"""Text for formats with limits: without control characters, on one line, up to a maximum number of bytes."""

import re

# Characters that XML 1.0 and HTML forbid, that break log collectors, or that reorder a line: C0, C1, bidirectional
# controls, zero-width characters, lone surrogates and noncharacters. Newline and tab stay.
DROPPED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufdd0-\ufdef\ufeff\ud800-\udfff\ufffe\uffff]"
    "|[" + "".join(chr((plane << 16) + last) for plane in range(1, 17) for last in (0xFFFE, 0xFFFF)) + "]"
)
MARK = "…"


def plain(text: str) -> str:
    """Return the text without control characters; line ends become newlines."""
    return DROPPED.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def line(text: str) -> str:
    """Return the text on one line, without control characters."""
    return re.sub(r"\s+", " ", plain(text)).strip()


def cut(text: str, limit: int) -> str:
    """Cut a text to ``limit`` bytes of UTF-8, between characters; a cut text ends with "…"."""
    data = text.encode("utf-8")
    if len(data) <= limit:
        return text
    room = limit - len(MARK.encode("utf-8"))
    if room < 0:
        return data[:limit].decode("utf-8", "ignore")
    return data[:room].decode("utf-8", "ignore").rstrip() + MARK


def fit(lines: list[str], limit: int) -> str:
    """Join as many lines as fit into ``limit`` bytes, and the number of omitted lines; the first is cut if necessary."""
    text = "".join(f"{entry}\n" for entry in lines)
    if len(text.encode("utf-8")) <= limit:
        return text
    room = limit - len(f"{MARK} {len(lines)} more lines\n".encode())
    kept: list[str] = []
    for entry in lines:
        size = len(entry.encode("utf-8")) + 1
        if size > room:
            break
        kept.append(entry)
        room -= size
    if not kept:
        kept, room = [cut(lines[0], max(room - 1, 0))], 0
    return "".join(f"{entry}\n" for entry in [*kept, f"{MARK} {len(lines) - len(kept)} more lines"])

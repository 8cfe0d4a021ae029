"""What notes, tables and other languages say: lines that must give an event, and lines close by that must not, in log_wordings."""

import pytest
from log_wordings import gpu, training
from one_line import assert_meant, assert_not_meant

TOPICS = (gpu, training)
MEANT = [(kind, *case) for topic in TOPICS for kind, cases in topic.MEANT.items() for case in cases]
NOT_MEANT = [(kind, text) for topic in TOPICS for kind, texts in topic.NOT_MEANT.items() for text in texts]


@pytest.mark.parametrize(("kind", "text", "fields"), MEANT)
def test_meant(kind: str, text: str, fields: dict[str, str]) -> None:
    assert_meant(kind, text, fields)


@pytest.mark.parametrize(("kind", "text"), NOT_MEANT)
def test_not_meant(kind: str, text: str) -> None:
    assert_not_meant(kind, text)

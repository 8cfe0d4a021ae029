"""What single lines of a log mean: the events that they give, and those that they must not."""

from gpucheck.logs.reading import parse


def events(text):
    return parse(text.split("\n"), "test").events


def assert_meant(kind, text, fields):
    """The text, mostly one line, gives such an event, with at least these fields."""
    found = [event for event in events(text) if event.kind == kind]
    assert found, [event.kind for event in events(text)]
    assert fields.items() <= found[0].fields.items(), found[0].fields
    assert found[0].line == 1 or "\n" in text


def assert_not_meant(kind, text):
    assert kind not in [event.kind for event in events(text)]

"""The formats of a fleet: each ``render`` returns text, without judging."""

"""The formats of a fleet: each ``render`` returns text and judges nothing."""

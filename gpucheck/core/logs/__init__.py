"""Pasted logs: ``reading`` turns lines into events, ``causes`` names what the events follow from."""

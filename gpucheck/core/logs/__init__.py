"""Log analysis: ``reading`` turns lines into events, ``causes`` infers the causes of the events."""

"""Files that users name: read within bounds, written whole or not at all."""

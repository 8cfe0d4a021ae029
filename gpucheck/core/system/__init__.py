"""Files that users name: read with limits, written completely or not at all."""

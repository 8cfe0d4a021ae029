"""What a log's events follow from: one file per diagnosis."""

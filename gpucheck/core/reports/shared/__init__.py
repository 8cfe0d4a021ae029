"""What several reports share: values in words, what counts in a report, and the sections that they have in common."""

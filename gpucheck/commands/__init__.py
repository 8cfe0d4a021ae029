"""The commands: one folder each, with its command line, logic and formats. No command imports another.

``COMMANDS`` of a folder lists its commands: name -> module with the function of that name, and one line for ``--help``.
"""

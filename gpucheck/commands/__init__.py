"""The commands, one folder each: its command line, its logic and its formats. No command imports another.

``COMMANDS`` of a folder lists its commands: name -> the module with the function of that name, and one line for ``--help``.
"""

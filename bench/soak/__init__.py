"""Does the service stay as it is? Minutes of matches and writes at once, and what became of it.

command.py    the run: the load, the bounds, the verdict
  ├── writing.py     campaign managers: threads that write through the API
  └── watching.py    memory and lag, every second
"""

"""The commands of `copse`, a module each: `add_to` declares one, `run` runs it."""

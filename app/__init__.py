"""The FastAPI service and the command `copse`."""

"""The catalogue: the attributes that targeting can use, and which of them may be logged."""

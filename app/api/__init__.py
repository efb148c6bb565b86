"""The admin API: a module for each noun. `models.py` makes the models of the OpenAPI document from
the records' fields, `resource.py` the parts that the routes of all nouns share."""

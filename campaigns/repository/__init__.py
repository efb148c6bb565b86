"""All SQL of the store, a module for each table. They open no transaction: they are given one."""

"""The thesis's structures in readable Python: the specification that other engines are
tested against, and what serves where the native core could not be built.

    PS-Tree    ps_tree.py     a value to the predicates that are true of it      chapter 6
    PSTHash    pst_hash.py    conjunctions, by pairs of access predicates        chapter 8
    A-Tree     a_tree.py      everything else, as one shared graph               chapter 9
"""

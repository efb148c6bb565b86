"""The structures of the thesis in readable Python: the specification that the native core is
tested against, and the engine where the native core could not be built.

    PS-Tree    ps_tree.py     from a value to the predicates true of it          chapter 6
    PSTHash    pst_hash.py    conjunctions, by pairs of access predicates        chapter 8
    A-Tree     a_tree.py      everything else, as one shared graph               chapter 9
"""

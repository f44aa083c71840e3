"""Topics from how often words stand together, whoever counted it and with whatever noise.

Begin with `factorise`: a matrix of pairs in, topics out. `noised` reads votes for pairs whose noise
has a known variance in every cell.
"""

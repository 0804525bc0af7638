"""PyTorch's operators on Kudzu against PyTorch's CPU path, over types and shapes, forwards and, where they have one, backwards.

torch_cases.py says what is compared and how far results may be apart; torch_ops_*.py have the operators."""

import torch_ops_layers as layers
import torch_ops_numbers as numbers
import torch_ops_places as places

for part in (numbers.elementwise, numbers.casts, numbers.binary, numbers.reductions, places.sorting, places.indexing, layers.products, layers.layers,
             layers.transforms, layers.linear, layers.sparse, layers.lists, layers.chance):  # fmt: skip
    part()

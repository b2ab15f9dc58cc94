"""The intermediate representation: types, attributes, values, operations, blocks and regions.

Shaped and spelt like MLIR. This room also owns what every dialect needs: the builder, the printer and the parser
of MLIR text, the numbered verifier, the greedy rule rewriter and the pass manager. It defines no operation of its
own: those are the dialects' business.
"""

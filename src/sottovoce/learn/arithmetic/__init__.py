"""Arithmetic between one who holds ciphertexts and one who holds the key.

Every protocol is two scripts: ``ask_...`` for the ciphertext holder, ``answer_...`` for the key
holder. `Pairing` makes state machines of them, and `run_together` plays both in one process.
"""

from sottovoce.learn.arithmetic.bits import Told
from sottovoce.learn.arithmetic.comparison import ComparisonPlan, answer_less, ask_less
from sottovoce.learn.arithmetic.descent import (
    DescentPlan,
    answer_descent,
    answer_log_loss,
    ask_descent,
    ask_log_loss,
    plain_descent,
)
from sottovoce.learn.arithmetic.exponential import (
    ExponentialPlan,
    answer_exponential,
    ask_exponential,
)
from sottovoce.learn.arithmetic.inverse import (
    InversePlan,
    answer_inverse,
    answer_solution,
    ask_inverse,
    ask_solution,
)
from sottovoce.learn.arithmetic.logarithm import LogarithmPlan, answer_logarithm, ask_logarithm
from sottovoce.learn.arithmetic.outline import Outline
from sottovoce.learn.arithmetic.packed import (
    PackedProductPlan,
    answer_packed_product,
    ask_packed_product,
)
from sottovoce.learn.arithmetic.packed_inverse import (
    PackedInversePlan,
    answer_packed_inverse,
    ask_packed_inverse,
)
from sottovoce.learn.arithmetic.pairing import Pairing, Run, run_together
from sottovoce.learn.arithmetic.products import (
    answer_inner_product,
    answer_matrix_product,
    answer_multiplication,
    answer_outer_product,
    ask_inner_product,
    ask_matrix_product,
    ask_multiplication,
    ask_outer_product,
)
from sottovoce.learn.arithmetic.rescaling import (
    answer_rescaling,
    answer_unpacking,
    ask_rescaling,
    ask_unpacking,
)
from sottovoce.learn.arithmetic.script import Hear, Say, Script, ScriptedParty
from sottovoce.learn.arithmetic.sign import (
    SharedNumbers,
    answer_positive,
    answer_positive_encrypted,
    answer_shared_positive,
    ask_positive,
    ask_positive_encrypted,
    ask_shared_positive,
)

__all__ = [
    "ComparisonPlan",
    "DescentPlan",
    "ExponentialPlan",
    "Hear",
    "InversePlan",
    "LogarithmPlan",
    "Outline",
    "PackedInversePlan",
    "PackedProductPlan",
    "Pairing",
    "Run",
    "Say",
    "Script",
    "ScriptedParty",
    "SharedNumbers",
    "Told",
    "answer_descent",
    "answer_exponential",
    "answer_inner_product",
    "answer_inverse",
    "answer_less",
    "answer_log_loss",
    "answer_logarithm",
    "answer_matrix_product",
    "answer_multiplication",
    "answer_outer_product",
    "answer_packed_inverse",
    "answer_packed_product",
    "answer_positive",
    "answer_positive_encrypted",
    "answer_rescaling",
    "answer_shared_positive",
    "answer_solution",
    "answer_unpacking",
    "ask_descent",
    "ask_exponential",
    "ask_inner_product",
    "ask_inverse",
    "ask_less",
    "ask_log_loss",
    "ask_logarithm",
    "ask_matrix_product",
    "ask_multiplication",
    "ask_outer_product",
    "ask_packed_inverse",
    "ask_packed_product",
    "ask_positive",
    "ask_positive_encrypted",
    "ask_rescaling",
    "ask_shared_positive",
    "ask_solution",
    "ask_unpacking",
    "plain_descent",
    "run_together",
]

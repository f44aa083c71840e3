"""SPU's CHEETAH on one system, in a process of its own: `python -m sottovoce_lab.bench.spu_newton`.

Reads {"matrix", "vector", "steps", "runs"} as JSON from standard input and writes {"theta",
"cpu_s"} as the last line of standard output. Two parties run as threads over SPU's memory link, so
the process's time is that of both; SPU's own profile, which it logs, has the bytes.
"""

import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np


def main() -> None:
    """Solve as told, and say how long both parties computed."""
    given = json.load(sys.stdin)
    matrix = np.array(given["matrix"], np.float32)
    vector = np.array(given["vector"], np.float32)
    solve = _compiled(matrix, vector, int(given["steps"]))
    best = float("inf")
    for _ in range(int(given["runs"])):
        begin = time.process_time()
        theta = solve()
        best = min(best, time.process_time() - begin)
    answer = {"theta": [float(entry) for entry in theta], "cpu_s": best}
    sys.stdout.write("\n" + json.dumps(answer) + "\n")


def _compiled(matrix: Any, vector: Any, steps: int) -> Callable[[], Any]:  # noqa: ANN401 - jax's arrays
    """The solve, compiled before the clock starts."""
    import spu  # noqa: PLC0415 - an optional peer
    from spu.utils import frontend, simulation  # noqa: PLC0415 - likewise

    config = spu.RuntimeConfig(protocol=spu.ProtocolKind.CHEETAH, field=spu.FieldType.FM64)
    config.enable_pphlo_profile = True
    simulator = simulation.Simulator(2, config)
    executable, _ = frontend.compile(
        frontend.Kind.JAX,
        _newton(steps),
        (matrix, vector),
        {},
        ["matrix", "vector"],
        [spu.Visibility.VIS_SECRET] * 2,
        lambda _: ["theta"],
    )
    return lambda: simulator(executable, matrix, vector)[0]


def _newton(steps: int) -> Callable[[Any, Any], Any]:
    """V <- V (2I - A V) from V = I / trace, then V b."""
    import jax.numpy as jnp  # noqa: PLC0415 - SPU's language

    def solve(matrix: Any, vector: Any) -> Any:  # noqa: ANN401 - jax's arrays
        size = matrix.shape[0]
        inverse = jnp.eye(size) / float(size)
        for _ in range(steps):
            inverse = inverse @ (2 * jnp.eye(size) - matrix @ inverse)
        return inverse @ vector

    return solve


if __name__ == "__main__":
    main()

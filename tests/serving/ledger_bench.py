"""What admitting a request costs from Python, beside an empty call through the same binding.

Best of many rounds, in turn; also without the loop around them, which is measured too."""

import time

from kvbudget import _core

REQUESTS = 256  # known at once, as in a busy engine
ROUNDS = 400


def nanoseconds(call, items):
    started = time.perf_counter_ns()
    call(items)
    return (time.perf_counter_ns() - started) / len(items)


def loop(items):
    for _ in items:
        pass


def empty(items):
    call = _core.abi_version
    for _ in items:
        call()


def main():
    ledger = _core.Ledger(1 << 40, 1 << 40, True)

    def admit(items):
        call = ledger.admit
        for key in items:
            call(key, 0, 5, 1.0)

    best = {loop: float("inf"), empty: float("inf"), admit: float("inf")}
    for number in range(ROUNDS):
        keys = list(range(number * REQUESTS, (number + 1) * REQUESTS))
        for call in best:
            best[call] = min(best[call], nanoseconds(call, keys))
        ledger.release(keys)
    ratio = best[admit] / best[empty]
    without_loop = (best[admit] - best[loop]) / (best[empty] - best[loop])
    print(
        f"an empty call {best[empty]:.0f} ns, an admission {best[admit]:.0f} ns: {ratio:.1f} x "
        f"({without_loop:.1f} x without the loop's {best[loop]:.0f} ns)"
    )


if __name__ == "__main__":
    main()

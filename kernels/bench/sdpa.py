"""PyTorch's scaled_dot_product_attention at the shape of decode_bench.cc, in bfloat16.

One row per group and thread count; says so and stops where PyTorch is not installed.
"""

import time

HEADS, DIM, TOKENS, ROUNDS = 8, 128, 32768, 8


def milliseconds(torch, group):
    query = torch.randn(1, HEADS * group, 1, DIM, dtype=torch.bfloat16)
    key = torch.randn(1, HEADS, TOKENS, DIM, dtype=torch.bfloat16)
    value = torch.randn(1, HEADS, TOKENS, DIM, dtype=torch.bfloat16)
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.perf_counter()
        torch.nn.functional.scaled_dot_product_attention(
            query, key, value, enable_gqa=group > 1
        )
        best = min(best, time.perf_counter() - start)
    return best * 1e3


def main():
    try:
        import torch
    except ImportError:
        print("\nPyTorch is not installed: no row for its scaled_dot_product_attention")
        return
    print(f"\n| PyTorch {torch.__version__} SDPA, bfloat16 | G | threads | ms |\n|---|---|---|---|")
    for threads in (1, 2):
        torch.set_num_threads(threads)
        for group in (1, 4, 8):
            print(f"| | {group} | {threads} | {milliseconds(torch, group):.2f} |", flush=True)


if __name__ == "__main__":
    main()

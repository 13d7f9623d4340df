"""Makes this process see a machine whose best instruction set is AVX2: our kernels and torch by their
environment variables, vLLM by the answers of torch that it goes by (vllm/platforms/cpu.py picks its
extension by them, vllm/v1/attention/backends/cpu_attn.py refuses FP8). To be imported before vllm."""

import os

os.environ |= {
    "KVBUDGET_CPU_ISA": "avx2",
    "ATEN_CPU_CAPABILITY": "avx2",
    "ONEDNN_MAX_CPU_ISA": "AVX2",
}

import torch  # noqa: E402

for _name in ("_is_avx512_supported", "_is_avx512_bf16_supported", "_is_amx_tile_supported"):
    if hasattr(torch.cpu, _name):
        setattr(torch.cpu, _name, lambda: False)


def loaded_extensions():
    """The builds of vLLM's extension that lie in this process's memory."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        files = {line.split()[-1].rsplit("/", 1)[-1] for line in maps if "/vllm/_C" in line}
    return sorted(files)

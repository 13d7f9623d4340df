"""A LoRA adapter for the tests' model, with weights that are random but always the same."""

import json

import model
import torch
from safetensors.torch import save_file

RANK, TARGETS = 8, {"q_proj": "num_attention_heads", "v_proj": "num_key_value_heads"}


def make(folder):
    config, generator = model.CONFIG, torch.Generator().manual_seed(4321)
    weights = {}
    for layer in range(config["num_hidden_layers"]):
        for target, heads in TARGETS.items():
            at = f"base_model.model.model.layers.{layer}.self_attn.{target}."
            inner, outer = config["hidden_size"], config[heads] * config["head_dim"]
            weights[at + "lora_A.weight"] = (
                torch.randn(RANK, inner, generator=generator) / inner**0.5
            )
            weights[at + "lora_B.weight"] = torch.randn(outer, RANK, generator=generator)
    folder.mkdir(parents=True, exist_ok=True)
    adapter = {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "r": RANK,
        "lora_alpha": 2 * RANK,
        "lora_dropout": 0.0,
        "bias": "none",
        "target_modules": list(TARGETS),
    }
    (folder / "adapter_config.json").write_text(json.dumps(adapter))
    save_file(weights, str(folder / "adapter_model.safetensors"))
    return folder

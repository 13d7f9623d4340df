"""A small Llama with weights that are random but always the same, for tests of a real engine: 4
layers of 4 KV heads of 32, a tokenizer of bytes. Greedy answers depend on the context, so that a
wrong KV cache shows."""

import json

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 256,
    "intermediate_size": 512,
    "num_hidden_layers": 4,
    "num_attention_heads": 8,
    "num_key_value_heads": 4,
    "head_dim": 32,
    "vocab_size": 512,
    "max_position_embeddings": 8192,
    "rms_norm_eps": 1e-5,
    "rope_theta": 10000.0,
    "hidden_act": "silu",
    "bos_token_id": 0,
    "eos_token_id": 1,
    "pad_token_id": 2,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
}


def _weights(config):
    generator = torch.Generator().manual_seed(1234)
    hidden, inner, words = config["hidden_size"], config["intermediate_size"], config["vocab_size"]
    queries = config["num_attention_heads"] * config["head_dim"]
    keys = config["num_key_value_heads"] * config["head_dim"]

    def matrix(rows, columns, scale):
        return torch.randn(rows, columns, generator=generator) * scale * columns**-0.5

    weights = {
        "model.embed_tokens.weight": torch.randn(words, hidden, generator=generator),
        "model.norm.weight": torch.ones(hidden),
        "lm_head.weight": matrix(words, hidden, 3.0),
    }
    for layer in range(config["num_hidden_layers"]):
        at = f"model.layers.{layer}."
        weights |= {
            at + "input_layernorm.weight": torch.ones(hidden),
            at + "post_attention_layernorm.weight": torch.ones(hidden),
            at + "self_attn.q_proj.weight": matrix(queries, hidden, 1.5),
            at + "self_attn.k_proj.weight": matrix(keys, hidden, 1.5),
            at + "self_attn.v_proj.weight": matrix(keys, hidden, 1.0),
            at + "self_attn.o_proj.weight": matrix(hidden, queries, 2.0),
            at + "mlp.gate_proj.weight": matrix(inner, hidden, 1.0),
            at + "mlp.up_proj.weight": matrix(inner, hidden, 1.0),
            at + "mlp.down_proj.weight": matrix(hidden, inner, 1.0),
        }
    return {name: w.to(torch.bfloat16).contiguous() for name, w in weights.items()}


def _tokenizer():
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    special = ["<s>", "</s>", "<pad>"]
    vocabulary = {token: i for i, token in enumerate(special + alphabet)}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(special)
    tokenizer.add_tokens([f"<x{i}>" for i in range(len(vocabulary), CONFIG["vocab_size"])])
    return tokenizer


def make(folder, tensors=None, **changes):
    """`tensors`: more of them, by name; `changes`: keys of the configuration that are to be others."""
    config = CONFIG | changes
    folder.mkdir(parents=True, exist_ok=True)
    if (folder / "model.safetensors").exists():
        return
    _tokenizer().save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(
        json.dumps(
            {
                "tokenizer_class": "PreTrainedTokenizerFast",
                "bos_token": "<s>",
                "eos_token": "</s>",
                "pad_token": "<pad>",
                "model_max_length": CONFIG["max_position_embeddings"],
            }
        )
    )
    (folder / "config.json").write_text(json.dumps(config))
    save_file(_weights(config) | (tensors or {}), str(folder / "model.safetensors"), metadata={"format": "pt"})

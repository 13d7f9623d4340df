"""The model's config.json, whose bytes a plan names by their SHA-256.

The engine has read it from the model's folder or from the Hub's cache (vllm/transformers_utils/config.py);
where neither has it, for models that are streamed from elsewhere, there is nothing to compare.
"""

import hashlib
import pathlib


def _from_hub_cache(model, revision):
    try:
        from huggingface_hub import try_to_load_from_cache

        found = try_to_load_from_cache(model, "config.json", revision=revision)
    except (ImportError, ValueError):  # a model's name that is no repository's
        return None
    return found if isinstance(found, str) else None


def path_of(model_config):
    """None where the file is not at hand."""
    model = getattr(model_config, "hf_config_path", None) or model_config.model
    local = pathlib.Path(model) / "config.json"
    if local.is_file():
        return local
    cached = _from_hub_cache(model, getattr(model_config, "revision", None))
    return pathlib.Path(cached) if cached else None


def sha256_of(model_config):
    path = path_of(model_config)
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest() if path else None
    except OSError:
        return None

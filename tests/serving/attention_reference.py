"""Attention over FP8 pages as its definition says, in float32, for the tests of the backend: cells
are taken apart byte by byte with torch's own float8 types."""

import torch
import torch.nn.functional as F


def read_cells(kv_cache, head_size, key_scale, value_scale):
    """[blocks, heads, tokens, content] of bytes as keys and values [blocks, heads, tokens, dim]."""
    blocks, heads, tokens, cell = kv_cache.shape
    if cell == 2 * head_size:
        codes = kv_cache.view(torch.float8_e4m3fn).float()
        keys, values = codes.split(head_size, dim=-1)
        shape = (1, -1, 1, 1)
        return keys * key_scale.view(shape), values * value_scale.view(shape)
    page = kv_cache.reshape(blocks, heads, tokens * cell)
    codes = page[..., : tokens * 2 * head_size].contiguous().view(torch.float8_e4m3fn).float()
    keys, values = codes.view(blocks, heads, tokens, 2 * head_size).split(head_size, dim=-1)
    scales = page[..., tokens * 2 * head_size :].contiguous().view(torch.float32)
    scales = scales.view(blocks, heads, 2, tokens, 1)
    return keys * scales[:, :, 0], values * scales[:, :, 1]


def attend(query, keys, values, length, scale, window=0, soft_cap=0.0, sinks=None):
    """`query`: [queries, heads, dim], the last of `length` tokens; keys and values [KV heads, tokens,
    dim]; returns [queries, heads, dim]."""
    count, heads, _ = query.shape
    group = heads // keys.shape[0]
    keys, values = (x[:, :length].repeat_interleave(group, dim=0) for x in (keys, values))
    scores = torch.einsum("qhd,htd->hqt", query.float(), keys) * scale
    if soft_cap:
        scores = soft_cap * torch.tanh(scores / soft_cap)
    at = torch.arange(count)[:, None] + length - count
    token = torch.arange(length)[None, :]
    seen = (token <= at) & ((token > at - window) if window else True)
    scores = scores.masked_fill(~seen, float("-inf"))
    if sinks is not None:
        scores = torch.cat([scores, sinks.float().view(-1, 1, 1).expand(-1, count, 1)], dim=-1)
        values = F.pad(values, (0, 0, 0, 1))
    return torch.einsum("hqt,htd->qhd", scores.softmax(dim=-1), values)


def attend_batch(query, kv_cache, block_table, lengths, query_starts, head_size, key_scale,
                 value_scale, scale, **others):
    """The same for the sequences of a step, from pages."""
    keys, values = read_cells(kv_cache, head_size, key_scale, value_scale)
    output = torch.zeros(query.shape, dtype=torch.float32)
    starts = query_starts.tolist()
    for i, length in enumerate(lengths.tolist()):
        if starts[i] == starts[i + 1]:
            continue
        blocks = block_table[i, : -(-length // kv_cache.shape[2])].long()
        k, v = (x[blocks].transpose(0, 1).flatten(1, 2) for x in (keys, values))
        rows = slice(starts[i], starts[i + 1])
        output[rows] = attend(query[rows], k, v, length, scale, **others)
    return output

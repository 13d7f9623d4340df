"""A step's requests as sequences that decode takes: each with its last 1 to 8 tokens as queries.

A prompt, or a chunk of one, becomes several sequences over the same blocks, each eight tokens longer
than the one before. So prompts, chunks behind a cached prefix, drafts and single tokens are one
kind of work, and windows, sinks and caps hold for all of them.
"""

import dataclasses

import torch

MOST_QUERY_TOKENS = 8


@dataclasses.dataclass(frozen=True)
class Batch:
    block_table: torch.Tensor  # [sequences, blocks] int32
    lengths: torch.Tensor  # [sequences] int32, the queries included
    query_starts: torch.Tensor  # [sequences + 1] int32
    query_tokens: int  # the most of a sequence
    max_length: int


def sequences_of(block_table, lengths, query_starts, max_query_tokens):
    """Of requests with their block tables [requests, blocks], lengths [requests] and the first query
    token of each [requests + 1], all in host memory, but block_table wherever it is."""
    longest = int(lengths.max()) if lengths.numel() else 0
    if max_query_tokens <= MOST_QUERY_TOKENS:
        return Batch(block_table, lengths, query_starts, max(1, max_query_tokens), longest)
    first, last = query_starts[:-1].long(), query_starts[1:].long()
    pieces = (last - first + MOST_QUERY_TOKENS - 1) // MOST_QUERY_TOKENS
    request = torch.repeat_interleave(torch.arange(len(pieces)), pieces)
    piece = torch.arange(len(request)) - (pieces.cumsum(0) - pieces)[request]
    begin = first[request] + piece * MOST_QUERY_TOKENS
    end = torch.minimum(begin + MOST_QUERY_TOKENS, last[request])
    return Batch(
        block_table[request.to(block_table.device)],
        (lengths.long()[request] - (last[request] - end)).int(),
        torch.cat([begin, last[-1:]]).int(),
        MOST_QUERY_TOKENS,
        longest,
    )

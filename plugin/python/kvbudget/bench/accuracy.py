"""What FP8 pages cost in quality: perplexity and the greedy token, one token a step.

Each passage, a text or a piece of it, is forced on the engine token by token after its first, so that every figure comes
through the decode path and every step of all engines has seen the same text. A logits processor
notes the probability of the token that follows and the token that the model would have chosen; in 16
bits several tokens may share the highest logit, of which the first is chosen.

The passages: the first chapter of "Alice's Adventures in Wonderland" (Lewis Carroll, 1865), the
opening of "As You Like It" (William Shakespeare) and of "Paradise Lost" (John Milton, 1667), all
in the public domain, from the texts of the Canterbury corpus (Project Gutenberg).
"""

import math
import pathlib
import typing

from kvbudget.bench import engines

PASSAGES = pathlib.Path(__file__).parent / "passages"
CACHE_BYTES = 1 << 30


class Step(typing.NamedTuple):
    log_probability: float  # of the token that follows
    greedy: int
    highest: frozenset  # all tokens with the highest logit


def teacher_class(steps):
    """The processor of an engine; each Step goes to `steps` under the passage's index."""
    import torch
    from vllm.v1.sample.logits_processor import AdapterLogitsProcessor

    class Teacher(AdapterLogitsProcessor):
        def is_argmax_invariant(self):
            return False

        def new_req_logits_processor(self, params):
            index, tokens = params.extra_args["kvbudget"]
            noted = steps.setdefault(index, [])

            def follow(output_tokens, logits):
                token = tokens[len(output_tokens)]
                noted.append(
                    Step(
                        float(logits.float().log_softmax(-1)[token]),
                        int(logits.argmax()),
                        frozenset((logits == logits.max()).nonzero()[:, 0].tolist()),
                    )
                )
                forced = torch.full_like(logits, float("-inf"))
                forced[token] = 0.0
                return forced

            return follow

    return Teacher


def follow_passages(setup, options, passages):
    """The Steps of all passages, and the cache's figures."""
    from vllm import SamplingParams

    steps = {}
    longest = max(map(len, passages))
    with engines.engine(
        setup,
        options,
        max_model_len=longest + 1,
        max_num_seqs=len(passages),
        kv_cache_memory_bytes=CACHE_BYTES,
        logits_processors=[teacher_class(steps)],
    ) as llm:
        llm.generate(
            [{"prompt_token_ids": tokens[:1]} for tokens in passages],
            [
                SamplingParams(
                    temperature=0,
                    max_tokens=len(tokens) - 1,
                    ignore_eos=True,
                    extra_args={"kvbudget": [i, tokens[1:]]},
                )
                for i, tokens in enumerate(passages)
            ],
            use_tqdm=False,
        )
        token_bytes, num_blocks = engines.bytes_per_token(llm)
    noted = [step for i in range(len(passages)) for step in steps[i]]
    if len(noted) != sum(len(tokens) - 1 for tokens in passages):
        raise RuntimeError("the engine did not follow the passages token by token")
    return noted, token_bytes, num_blocks


def cut(tokens, most):
    """Into as few passages of equal length as `most` tokens in each allow."""
    count = -(-len(tokens) // most)
    length = -(-len(tokens) // count)
    return [tokens[i : i + length] for i in range(0, len(tokens), length)]


def figures(noted, base):
    """Perplexity, and the shares of steps whose greedy token is the base's, or one that the base ranks
    as high."""
    perplexity = math.exp(-sum(step.log_probability for step in noted) / len(noted))
    pairs = list(zip(noted, base, strict=True))
    same = sum(a.greedy == b.greedy for a, b in pairs) / len(base)
    as_high = sum(a.greedy in b.highest for a, b in pairs) / len(base)
    return perplexity, same, as_high


def run(arguments):
    from transformers import AutoTokenizer

    files = [arguments.text] if arguments.text else sorted(PASSAGES.glob("*.txt"))
    tokenizer = AutoTokenizer.from_pretrained(arguments.model)
    passages = []
    for file in files:
        tokens = tokenizer.encode(file.read_text(encoding="utf-8"), add_special_tokens=False)
        passages += cut(tokens, arguments.tokens)
    rows, base = [], None
    for setup in engines.setups():
        noted, token_bytes, num_blocks = follow_passages(setup, arguments, passages)
        base = base or noted
        perplexity, same, as_high = figures(noted, base)
        rows.append(
            {
                "setup": setup.name,
                "steps": len(noted),
                "perplexity": perplexity,
                "change": perplexity / figures(base, base)[0] - 1,
                "same_greedy": same,
                "as_high_greedy": as_high,
                "bytes_per_token": token_bytes,
                "num_blocks": num_blocks,
            }
        )
        print(
            f"{setup.name:26} {len(noted)} steps  perplexity {perplexity:.4f} "
            f"({rows[-1]['change']:+.2%})  same greedy token {same:.2%}, or one as high {as_high:.2%}  "
            f"{token_bytes} bytes a token, {num_blocks} blocks",
            flush=True,
        )
    return rows

"""python -m kvbudget.bench accuracy|attention MODEL [options]

The program `kvbudget` judges files and starts no engine; these measurements need one, and run
where vLLM for CPUs and this package are installed.
"""

import argparse
import json
import pathlib


def at_least(least):
    def number(text):
        if int(text) < least:
            raise argparse.ArgumentTypeError(f"{text} is less than {least}")
        return int(text)

    return number


def main():
    parser = argparse.ArgumentParser(prog="python -m kvbudget.bench", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    accuracy = commands.add_parser(
        "accuracy", help="perplexity and greedy tokens with FP8 pages beside a 16-bit cache"
    )
    accuracy.add_argument("--text", type=pathlib.Path, help="file in place of the passages here")
    accuracy.add_argument("--tokens", type=at_least(2), default=1500, help="of a passage at most (default 1500)")
    attention = commands.add_parser(
        "attention", help="time inside attention and of a step, beside vLLM's own"
    )
    attention.add_argument("--context", type=at_least(1), default=8000, help="tokens (default 8000)")
    attention.add_argument("--sequences", type=at_least(1), default=1)
    attention.add_argument("--steps", type=at_least(5), default=32, help="(default 32, the first 4 "
                           "are not counted)")  # fmt: skip
    for command in (accuracy, attention):
        command.add_argument("model", help="folder of a model")
        command.add_argument("--dtype", default="bfloat16", help="of the model (default bfloat16)")
        command.add_argument("--json", type=pathlib.Path, help="file for the figures")
    arguments = parser.parse_args()
    if arguments.command == "accuracy":
        from kvbudget.bench import accuracy as measurement
    else:
        from kvbudget.bench import attention as measurement
    rows = measurement.run(arguments)
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n")


main()

#!/usr/bin/env python3
"""The Dockerfile, as far as it can be checked without an engine: hadolint, what it copies, whose it is."""

import re

import support
from support import ROOT, check


def test(_):
    result = support.tool("hadolint", "--failure-threshold", "style", "Dockerfile")
    check("hadolint finds nothing", result.returncode == 0 and not result.stdout, result.stdout)
    text = (ROOT / "Dockerfile").read_text()
    stages = text.split("\nFROM ")[1:]
    check("the image does not carry the build", len(stages) == 2 and "COPY --from=build" in stages[1])
    users = re.findall(r"^USER (.*)$", stages[-1], re.MULTILINE)
    check("it does not run as root", users and not users[-1].startswith(("0", "root")))
    built = re.search(r"COPY --from=build /src/(\S+)", text).group(1)
    check("what is copied is what ./dev builds", f'$root/{built}"' in (ROOT / "dev").read_text(), built)
    check("and ./dev is what builds it", "RUN ./dev build" in stages[0])


support.main(test)

"""Stand-ins for the CUDA libraries that PyPI's torch links, so that it can be imported where there
is no GPU and without 2 GB of libraries that nothing would call.

    cuda_stubs.py SITE_PACKAGES    needs gcc, nm and readelf

The loader wants each library under its name, with the symbol versions that torch asks of it, and,
since torch's are bound at once, every symbol. A stand-in returns 100, which is cudaErrorNoDevice.
"""

import collections
import pathlib
import re
import subprocess
import sys
import tempfile

LIBRARY = re.compile(
    r"lib(cuda|cudart|cupti|cublas|cublasLt|cufft|cusparse|cusparseLt|curand|cufile|nccl|cudnn"
    r"|nvrtc|nvshmem_host|cusolver)\.so"
)
SYMBOL = re.compile(r"(cu[a-z]*[A-Z]|cuda|nccl|nvrtc|nvshmem|cudnn|__cuda)")


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def symbols_of(library):
    """Names, with their versions, that the library defines and that it asks for."""
    defined, wanted = set(), set()
    for line in output_of("nm", "-D", library).splitlines():
        *_, kind, name = line.split()
        (wanted if kind == "U" else defined).add(name.replace("@@", "@"))
    return defined, wanted


def needs_of(library):
    """The CUDA libraries that it links, each with the versions that it asks of it."""
    needs = collections.defaultdict(set)
    for name in re.findall(r"NEEDED.*\[(.+?)\]", output_of("readelf", "-dW", library)):
        needs[name]
    current = None
    for line in output_of("readelf", "-VW", library).splitlines():
        if match := re.search(r"Version: 1\s+File: (\S+)", line):
            current = match[1]
        elif current and (match := re.search(r"Name: (\S+)\s+Flags", line)):
            needs[current].add(match[1])
    return {name: versions for name, versions in needs.items() if LIBRARY.match(name)}


def owner_of(name, version, libraries):
    """The library that a symbol is to be in; the first one where it does not matter."""
    for library, versions in libraries.items():
        if version in versions:
            return library
    if version or not SYMBOL.match(name):
        return None
    is_driver = re.match(r"cu[A-Z]", name) and not name.startswith("cuFile")
    prefix = "libcuda.so" if is_driver else "libcudart.so"
    return next((n for n in libraries if n.startswith(prefix)), next(iter(libraries)))


def build(target, by_version):
    with tempfile.TemporaryDirectory() as folder:
        source, script = pathlib.Path(folder, "stub.c"), pathlib.Path(folder, "stub.map")
        names = [name for of_version in by_version.values() for name in of_version]
        source.write_text("".join(f"int {name}(void){{return 100;}}\n" for name in names))
        blocks = []
        for version, of_version in by_version.items():
            if version:
                exported = f"global: {'; '.join(of_version)};" if of_version else ""
                blocks.append(f"{version} {{ {exported} }};\n")
        script.write_text("".join(blocks))
        command = ["gcc", "-shared", "-fPIC", "-w", source, f"-Wl,-soname,{target.name}"]
        if blocks:
            command.append(f"-Wl,--version-script={script}")
        subprocess.run([*command, "-o", target], check=True)


def main(site):
    torch = pathlib.Path(site) / "torch"
    found = [*torch.glob("lib/*.so"), *torch.glob("_C*.so")]
    defined, wanted, libraries = set(), set(), collections.defaultdict(set)
    for library in (f for f in found if not LIBRARY.match(f.name)):
        of_library = symbols_of(library)
        defined |= of_library[0]
        wanted |= of_library[1]
        for name, versions in needs_of(library).items():
            libraries[name] |= versions
    stubs = {name: {v: [] for v in versions} for name, versions in libraries.items()}
    for symbol in sorted(wanted - defined):
        name, _, version = symbol.partition("@")
        if owner := owner_of(name, version, libraries):
            stubs[owner].setdefault(version, []).append(name)
    for name, by_version in stubs.items():
        build(torch / "lib" / name, by_version)


if __name__ == "__main__":
    main(sys.argv[1])

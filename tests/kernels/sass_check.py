"""Registers, stack and instructions of the GPU's kernels, read out of the library, against a golden file.

    sass_check.py LIBRARY GOLDEN NVCC_VERSION [--write]

Device code lies in the library as ELF files (e_machine 190), one per file and architecture; a kernel is
a section .text.NAME of 16-byte instructions whose lower 12 bits name the operation; its registers are
attribute 0x2f of .nv.info, by symbol. Bits 73 to 75 of a load are its width (6: 128 bits).
What must hold for any compiler: no local memory at all, loads of pages as wide as the head dimension
allows, tensor cores of 16 bits alone. Exact figures are compared only for the compiler that the golden
file was written with. The PTX for architectures to come lies in the library as text: no local memory, K
and V by 16 bytes past the first-level cache.
"""

import collections
import re
import struct
import sys

OPCODES = {0x981: "LDG", 0x983: "LDL", 0x387: "STL", 0x23C: "HMMA", 0x27A: "QMMA", 0x23E: "F2FP"}
WIDE = 6


def device_files(data):
    at = data.find(b"\x7fELF", 4)
    while at >= 0:
        if struct.unpack_from("<H", data, at + 0x12)[0] == 190:
            yield at
        at = data.find(b"\x7fELF", at + 4)


def sections(data, base):
    offset = struct.unpack_from("<Q", data, base + 0x28)[0]
    size, count, names = struct.unpack_from("<HHH", data, base + 0x3A)
    headers = []
    for i in range(count):
        name, _, _, _, start, length = struct.unpack_from(
            "<IIQQQQ", data, base + offset + i * size
        )
        headers.append((name, base + start, length))
    strings = headers[names][1]
    for name, start, length in headers:
        end = data.index(b"\0", strings + name)
        yield data[strings + name : end].decode(), start, length


def registers_by_name(data, parts):
    """Attribute 0x2f (REGCOUNT) of .nv.info: pairs of symbol and registers."""
    symbols, strings = parts[".symtab"][0], parts[".strtab"][0]
    start, length = parts[".nv.info"]
    registers = {}
    at = start
    while at < start + length:
        form, attribute, size = struct.unpack_from("<BBH", data, at)
        if attribute == 0x2F:
            symbol, count = struct.unpack_from("<II", data, at + 4)
            name = strings + struct.unpack_from("<I", data, symbols + 24 * symbol)[0]
            registers[data[name : data.index(b"\0", name)].decode()] = count
        at += 4 + (size if form == 4 else 0)  # only form 4 has a body
    return registers


def kernels(data):
    for base in device_files(data):
        flags = struct.unpack_from("<I", data, base + 0x30)[0]
        arch = flags >> 8 & 0xFF or flags & 0xFF  # nvcc 13 keeps it in the second byte
        parts = {name: (start, length) for name, start, length in sections(data, base)}
        if ".nv.info" not in parts:
            continue
        registers = registers_by_name(data, parts)
        for name, (start, length) in parts.items():
            if not name.startswith(".text."):
                continue
            counts = collections.Counter()
            for at in range(start, start + length, 16):
                low, high = struct.unpack_from("<QQ", data, at)
                operation = OPCODES.get(low & 0xFFF)
                if operation:
                    counts[operation] += 1
                if operation == "LDG" and high >> 9 & 7 == WIDE:
                    counts["LDG128"] += 1
            yield short_name(name[6:]), arch, registers[name[6:]], length // 16, counts


def short_name(mangled):
    """decode_kernel<128,1,e4m3> and the like."""
    decode = re.search(r"13decode_kernelILi(\d+)ELi(\d+)E.*ElementTypeE(\d)E", mangled)
    if decode:
        kind = {"3": "e4m3", "4": "e5m2"}[decode[3]]
        return f"decode<{decode[1]},{decode[2]},{kind}>"
    merge = re.search(r"12merge_kernelILi(\d+)E", mangled)
    if merge:
        return f"merge<{merge[1]}>"
    return re.search(r"\d+([a-z_]+_kernel)", mangled)[1]


COLUMNS = ("registers", "HMMA", "LDG128", "F2FP", "instructions")


def table(data):
    rows = {}
    for name, arch, registers, instructions, counts in kernels(data):
        figures = (registers, counts["HMMA"], counts["LDG128"], counts["F2FP"], instructions)
        rows[name, arch] = (figures, counts)
    return rows


def faults(rows):
    for (name, arch), (figures, counts) in sorted(rows.items()):
        where = f"{name} sm_{arch}"
        if counts["LDL"] or counts["STL"]:
            yield f"{where}: {counts['LDL']} loads and {counts['STL']} stores of local memory"
        if counts["QMMA"]:
            yield f"{where}: FP8 tensor cores, which are emulated or sum too coarsely"
        decode = re.match(r"decode<(\d+),(\d)", name)
        if not decode:
            continue
        dim, tiles = int(decode[1]), int(decode[2])
        if counts["HMMA"] != dim // 16 * tiles * 2:
            yield f"{where}: {counts['HMMA']} HMMA, {dim // 16 * tiles * 2} expected"
        # K of 64 dimensions, V of 128 go in 128-bit pieces; once before the loop, once in it.
        least = 2 * (2 * (dim // 64) + 4 * (dim // 128))
        if counts["LDG128"] < least:
            yield f"{where}: {counts['LDG128']} 128-bit loads, at least {least} expected"
        limit = 255 if dim == 256 or tiles == 2 else 128 if arch < 100 else 168
        if figures[0] > limit:
            yield f"{where}: {figures[0]} registers, more than {limit}"


def ptx_faults(data):
    modules = [m[0] for m in re.finditer(rb"\.version \d+\.\d+[^\0]*", data) if b".target" in m[0]]
    decodes = [m for m in modules if b"decode_kernel" in m]
    if not decodes:
        yield "no PTX of decode in the library"
    for module in modules:
        if re.search(rb"\.local\b", module):
            yield "PTX: local memory"
    wide = rb"ld\.global\.nc\.L1::no_allocate\.L2::128B\.v4"
    for module in decodes:
        if not re.search(wide, module):
            yield "PTX: a decode without 128-bit loads past the first-level cache"


def main():
    library, golden, compiler = sys.argv[1:4]
    with open(library, "rb") as file:
        data = file.read()
    rows = table(data)
    problems = list(faults(rows)) + list(ptx_faults(data))
    if not any(name.startswith("decode<") for name, _ in rows):
        problems.append("no kernel found in the library")
    lines = ["\t".join(("nvcc " + compiler, "arch") + COLUMNS)]
    for (name, arch), (figures, _) in sorted(rows.items()):
        lines.append("\t".join([name, str(arch)] + [str(x) for x in figures]))
    text = "\n".join(lines) + "\n"
    if "--write" in sys.argv:
        with open(golden, "w", encoding="utf-8") as file:
            file.write(text)
    with open(golden, encoding="utf-8") as file:
        expected = file.read()
    if expected.split("\t")[0] != "nvcc " + compiler:
        print(f"golden file of {expected.split(chr(9))[0]}, compiler is {compiler}: figures not compared")
    elif expected != text:
        old, new = set(expected.splitlines()), set(text.splitlines())
        problems += [f"- {x}" for x in sorted(old - new)] + [f"+ {x}" for x in sorted(new - old)]
    print("\n".join(problems) or f"{len(rows)} kernels are as expected")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

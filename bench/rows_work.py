# SPDX-License-Identifier: MIT OR Apache-2.0
"""Starting the command, editing records, foreign models and a million tensors."""
from rows import Beside, File, Op, Row, ours

FILES = {
    "header.safetensors": File(ours("write-header {d}/header.safetensors 100000", "")),
    "million.safetensors": File(ours("write-million {d}/million.safetensors", "")),
    "sparse_1.safetensors": File(ours("write-sparse {d}/sparse_1.safetensors 1", "")),
    "sparse_large.safetensors": File(ours("write-sparse {d}/sparse_large.safetensors {large}", "")),
    "layers.safetensors": File(ours("write-layers {d}/layers.safetensors"),
                               ours("check {d}/layers.safetensors Safetensors map typed transposed")),
    "sixteen.safetensors": File(ours("write-sixteen {d}/sixteen.safetensors")),
}


# ---------------------------------------------------------------------------------------------------------------- start

def command(arguments):
    """The command or another program, started 20 times; the median of them."""
    return Op("command", "", f"spawn 20 {arguments}")


def start_rows(options):
    empty = Beside("an empty C program", command("{empty}"))
    out = [
        Row("record --version", command("{record} --version"), empty, at_least=1 / 1.15),
        Row("record ls of a small .mpk", command("{record} ls {tiny}"), empty, at_least=1 / 1.5),
    ]
    if options.static:
        out.append(Row("static program with an embedded .mpk, stripped", figure=lambda bench, side: bench.static_size(side),
                       unit="MB", at_most=1.2))
    return out


# ----------------------------------------------------------------------------------------------------------------- edit

def grown(line):
    return lambda bench, side: bench.alone(side, 0, line).live


def edit_rows(_):
    out = []
    for order in ("forward", "backward", "mixed"):
        small = Beside("from 10 of 16,000", ours(f"remove 16000 {order} 10", ""))
        # smaller maps stay in the caches: linear is a little slower than they are, quadratic a tenth
        out.append(Row(f"remove 160,000 entries of a map, {order}", ours(f"remove 160000 {order} 1", ""), small, at_least=0.3))
    out.append(Row("  memory that it takes", figure=grown("remove 160000 mixed 1"), at_most=4))
    return out


# -------------------------------------------------------------------------------------------------------------- foreign

LOOK = "Safetensors 0 map adapter=none gaps=keep"


def header_bytes(name, count, load=f"load {{d}}/{{name}} {LOOK}"):
    """Anonymous memory of a tensor in an open file."""
    def find(bench, side):
        alone = bench.alone(side, 0, load.replace("{name}", name))
        return (alone.live - alone.idle) * 2**20 / count
    return find


def convert_peak(adapter, mapped):
    def find(bench, side):
        line = f"convert {{d}}/sixteen.safetensors Safetensors {{d}}/out.mpk NamedMpk {adapter} {mapped}"
        alone = bench.alone(side, 0, line)
        if "watched" in mapped:
            return alone.live - alone.idle
        return alone.peak - alone.idle_peak
    return find


def foreign_rows(options):
    layers, mpk = "{d}/layers.safetensors", "{d}/converted.mpk NamedMpk"
    copy = Beside("copying the file", ours(f"raw-copy-file {layers} {{d}}/copied", ""))
    crate = Beside("safetensors crate", Op("crate", "", "open {d}/header.safetensors"))
    header = ours(f"load {{d}}/header.safetensors {LOOK}", "")
    largest = options.mb // 4 * 4 / 16
    out = [
        Row("header of 100,000 tensors", header, crate, at_least=4),
        Row("  the plugin's reader alone", Op("ours", "", "reader {d}/header.safetensors {reader} map"), crate),
        Row("header of 100,000 tensors", header,
            Beside("Python safetensors", Op("python", "", "safetensors-open {d}/header.safetensors"))),
        Row("  memory of a tensor", figure=header_bytes("header.safetensors", 1e5), unit="B", at_most=240,
            needs=("header.safetensors",)),
        Row(f"lazy open of {options.large_mb} MB", ours(f"load {{d}}/sparse_large.safetensors {LOOK}", "", lazy=True),
            Beside("of 1 MB", ours(f"load {{d}}/sparse_1.safetensors {LOOK}", "", lazy=True)), at_least=0.8),
        Row("load with the PyTorch adapter, every byte", ours(f"load {layers} Safetensors 0 map make typed"),
            Beside("memcpy of the map", ours(f"raw-copy-memory {layers}")), at_least=0.65),
        Row("transpose of 4096 x 4096 f32, in memory", ours("transpose 4096", ""),
            Beside("memcpy", ours("transpose 4096 copy", "")), at_least=0.65),
        Row("convert safetensors to mpk, as it is",
            ours(f"convert {layers} Safetensors {mpk} map in.adapter=none", ""), copy, at_least=1.2),
        Row("convert with the PyTorch adapter", ours(f"convert {layers} Safetensors {mpk} map adapted", ""), copy,
            at_least=0.9),
        Row("  not mapped", ours(f"convert {layers} Safetensors {mpk} adapted", ""), copy),
        Row("plan of 100,000 keys x 50 rules", ours("plan {d}/header.safetensors 100000", ""),
            Beside("PCRE2 with its JIT", ours("raw-match 100000", "")), below=600),
        Row("a million tensors: open", ours(f"load {{d}}/million.safetensors {LOOK}", "")),
        Row("a million tensors: convert",
            ours(f"convert {{d}}/million.safetensors Safetensors {mpk} map in.adapter=none in.gaps=keep", ""), below=3000),
        Row("a million tensors: plan", ours("plan {d}/million.safetensors 1000000", ""), below=6000),
        Row("a million tensors: memory of each, open", figure=header_bytes("million.safetensors", 1e6), unit="B", at_most=240,
            needs=("million.safetensors",)),
        Row("a million tensors: memory of each, converted",
            figure=header_bytes("million.safetensors", 1e6, "convert {d}/{name} Safetensors {d}/out.mpk NamedMpk map watched"
                                " in.adapter=none in.gaps=keep"), unit="B", at_most=600, needs=("million.safetensors",)),
        Row("a million tensors: memory of each, planned",
            figure=header_bytes("million.safetensors", 1e6, "plan {d}/{name} 1000000"), unit="B", at_most=600,
            needs=("million.safetensors",)),
    ]
    for adapter, word in (("as it is", "in.adapter=none"), ("adapted", "adapted")):
        needs = ("sixteen.safetensors",)
        what = f"convert 16 x {largest:g} MiB {adapter}"
        out += [
            Row(f"{what}, not mapped: peak", figure=convert_peak(word, ""), at_most=largest + 8, needs=needs),
            Row(f"{what}, mapped: anonymous memory", figure=convert_peak(word, "map watched"), at_most=largest + 8, needs=needs),
            Row("  the same, with the pages of the map", figure=convert_peak(word, "map"), needs=needs),
        ]
    return out

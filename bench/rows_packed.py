# SPDX-License-Identifier: MIT OR Apache-2.0
"""gzip and JSON, beside Burn 0.21 and zlib. zlib is slow: they have payloads of their own."""
import os

from rows import Beside, File, Row, burn, ours

FILES = {
    "small.mpk.gz": File(ours("save {d}/small.mpk.gz NamedMpkGz full", "gz_mb"),
                         ours("check {d}/small.mpk.gz NamedMpkGz", "gz_mb")),
    "burn.mpk.gz": File(burn("save {d}/burn.mpk.gz mpkgz full moved", "gz_mb")),
    "zlib.mpk.gz": File(ours("squeeze {d}/small.mpk.gz {d}/zlib.mpk.gz", "")),
    "text.json": File(ours("save {d}/text.json PrettyJson full", "json_mb"),
                      ours("check {d}/text.json PrettyJson", "json_mb")),
    "text.json.gz": File(ours("save {d}/text.json.gz JsonGz full", "json_mb"),
                         ours("check {d}/text.json.gz JsonGz", "json_mb")),
    "burn.json": File(burn("save {d}/burn.json json full moved", "json_mb")),
    "burn.json.gz": File(burn("save {d}/burn.json.gz jsongz full moved", "json_mb")),
    "zlib.json.gz": File(ours("squeeze {d}/text.json.gz {d}/zlib.json.gz", "")),
}


def share(name, other):
    """How large a file is beside another."""
    return lambda bench, side: os.path.getsize(bench.path(name, side)) / os.path.getsize(bench.path(other, side))


def peak(line, payload, input_too=False):
    """Of one operation beyond its payload; of a save beyond the input, too, and a process that does nothing."""
    def find(bench, side):
        mb = bench.payload(payload)
        beyond = bench.alone(side, mb if input_too else 0, line).peak - mb
        return beyond - bench.alone(side, 0, "nothing").peak if input_too else beyond
    return find


def gz_rows(options):
    mb = options.gz_mb
    save = ours("save {d}/saved_small.mpk.gz NamedMpkGz full", "gz_mb")
    own = ours("load {d}/small.mpk.gz NamedMpkGz 2", "gz_mb")
    foreign = ours("load {d}/burn.mpk.gz NamedMpkGz 2", "gz_mb")
    load = Beside("Burn", burn("load {d}/burn.mpk.gz mpkgz full", "gz_mb"))
    return [
        Row(f"save gz of {mb} MB", save, Beside("Burn", burn("save {d}/burn_saved.mpk.gz mpkgz full moved", "gz_mb")),
            at_least=30),
        Row("  its size, of zlib-6's", figure=share("small.mpk.gz", "zlib.mpk.gz"), unit="", at_most=1,
            needs=("small.mpk.gz", "zlib.mpk.gz")),
        Row("  peak beyond the input", figure=peak("save {d}/saved_small.mpk.gz NamedMpkGz full", "gz_mb", True), at_most=8),
        Row(f"load gz of {mb} MB, Burn's file", foreign, load, at_least=1.4),
        Row(f"load gz of {mb} MB, Burn's file", foreign, Beside("zlib's inflate", ours("raw-inflate {d}/burn.mpk.gz", "gz_mb")),
            at_least=1),
        Row("  1 thread", ours("load {d}/burn.mpk.gz NamedMpkGz 1", "gz_mb"), load),
        Row(f"load gz of {mb} MB, our own file", own, load, at_least=3),
        Row("  1 thread", ours("load {d}/small.mpk.gz NamedMpkGz 1", "gz_mb"), load),
        Row("  our own file: peak beyond the payload", figure=peak("load {d}/small.mpk.gz NamedMpkGz 2", "gz_mb"), at_most=8,
            needs=("small.mpk.gz",)),
        Row("  Burn's file: peak beyond the payload", figure=peak("load {d}/burn.mpk.gz NamedMpkGz 2", "gz_mb"), at_most=8,
            needs=("burn.mpk.gz",)),
    ]


def json_rows(options):
    mb = options.json_mb
    load = Beside("Burn", burn("load {d}/burn.json json full", "json_mb"))
    return [
        Row(f"load json of {mb} MB, mapped", ours("load {d}/text.json PrettyJson 0 map", "json_mb"), load, at_least=20),
        Row(f"load json of {mb} MB, not mapped", ours("load {d}/text.json PrettyJson 0", "json_mb"), load, at_least=12),
        Row("  peak", figure=lambda bench, side: bench.alone(side, 0, "load {d}/text.json PrettyJson 0").peak,
            at_most=2 * mb, needs=("text.json",)),
        Row(f"save json of {mb} MB", ours("save {d}/saved.json PrettyJson full", "json_mb"),
            Beside("Burn", burn("save {d}/burn_saved.json json full moved", "json_mb")), at_least=7),
        Row(f"load json.gz of {mb} MB, our own file", ours("load {d}/text.json.gz JsonGz 0", "json_mb"),
            Beside("Burn", burn("load {d}/burn.json.gz jsongz full", "json_mb")), at_least=20),
        Row(f"load json.gz of {mb} MB, Burn's file", ours("load {d}/burn.json.gz JsonGz 0", "json_mb"),
            Beside("Burn", burn("load {d}/burn.json.gz jsongz full", "json_mb")), at_least=20),
        Row(f"save json.gz of {mb} MB", ours("save {d}/saved.json.gz JsonGz full", "json_mb"),
            Beside("Burn", burn("save {d}/burn_saved.json.gz jsongz full moved", "json_mb")), at_least=35),
        Row("  its size, of zlib-6's", figure=share("text.json.gz", "zlib.json.gz"), unit="", at_most=1.1,
            needs=("text.json.gz", "zlib.json.gz")),
    ]

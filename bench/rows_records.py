# SPDX-License-Identifier: MIT OR Apache-2.0
"""Burn's own records: .mpk and .bin, loaded, saved and opened, beside Burn 0.21 and raw input and output."""
from rows import Beside, File, Row, burn, ours

FILES = {
    "full.mpk": File(ours("save {d}/full.mpk NamedMpk full"), ours("check {d}/full.mpk NamedMpk map")),
    "half.mpk": File(ours("save {d}/half.mpk NamedMpk half"), ours("check {d}/half.mpk NamedMpk map half")),
    "full.bin": File(ours("save {d}/full.bin BinFile full typed"), ours("check {d}/full.bin BinFile map typed")),
    "scalars.mpk": File(ours("write-scalars {d}/scalars.mpk", "")),
    "burn.mpk": File(burn("save {d}/burn.mpk mpk full moved")),
    "burn_half.mpk": File(burn("save {d}/burn_half.mpk mpk half moved")),
    "burn.bin": File(burn("save {d}/burn.bin bin full moved")),
}

WRITE = Beside("fallocate + write", ours("raw-write {d}/raw"))
OPEN = ours("load {d}/full.mpk NamedMpk 0 map")
LOAD_1 = ours("load {d}/full.mpk NamedMpk 1")
LOAD_2 = ours("load {d}/full.mpk NamedMpk 2")
READ_1 = Beside("pread, 1 thread", ours("raw-read {d}/full.mpk 1"))
READ_2 = Beside("pread, 2 threads", ours("raw-read {d}/full.mpk 2"))
BURN_LOAD = Beside("Burn", burn("load {d}/burn.mpk mpk full"))
SAVE = ours("save {d}/saved.mpk NamedMpk full")
BURN_SAVE = Beside("Burn, model moved", burn("save {d}/burn_saved.mpk mpk full moved"))
BURN_CLONE = Beside("Burn, model cloned", burn("save {d}/burn_clone.mpk mpk full shared"))
SAVE_HALF = ours("save {d}/saved_half.mpk NamedMpk half")
LOAD_BIN_1 = ours("load {d}/full.bin BinFile 1 typed")
LOAD_BIN_2 = ours("load {d}/full.bin BinFile 2 typed")
BURN_LOAD_BIN = Beside("Burn", burn("load {d}/burn.bin bin full"))
SAVE_BIN = ours("save {d}/saved.bin BinFile full typed")
BURN_LOAD_HALF = Beside("Burn", burn("load {d}/burn_half.mpk mpk half"))


def scalars(bench, side):
    alone = bench.alone(side, 0, "load {d}/scalars.mpk NamedMpk 0 map touch")
    return alone.live - alone.idle


def load_peak(bench, side):
    return bench.alone(side, 0, "load {d}/full.mpk NamedMpk 2").peak - bench.payload("mb")


def open_anonymous(bench, side):
    alone = bench.alone(side, 0, "load {d}/full.mpk NamedMpk 0 map")
    return alone.live - alone.idle


def save_peak(line):
    """Beyond the input and a process that does nothing."""
    def peak(bench, side):
        empty = bench.alone(side, 0, "nothing").peak
        return bench.alone(side, bench.payload("mb"), line).peak - bench.payload("mb") - empty
    return peak


def rows(options):
    mb = options.mb
    return [
        Row(f"open {mb} MB mapped and look at every tensor", OPEN, below=0.3),
        Row("  the same", OPEN, Beside("open+mmap+munmap", ours("raw-open {d}/full.mpk"))),
        Row("  cold", ours("load {d}/full.mpk NamedMpk 0 map", cold=True), below=10),
        Row("  the first of a process", ours("load {d}/full.mpk NamedMpk 0 map", "", fresh=True)),
        Row("open mapped and touch every byte", ours("load {d}/full.mpk NamedMpk 0 map touch"),
            Beside("raw scan of the map", ours("raw-scan {d}/full.mpk")), at_least=1 / 1.1),
        Row("load into memory, 1 thread", LOAD_1, READ_1),
        Row("load into memory, 2 threads", LOAD_2, READ_2, at_least=1),
        Row("load into memory, 1 thread", LOAD_1, BURN_LOAD),
        Row("load into memory, 2 threads", LOAD_2, BURN_LOAD),
        Row("save", SAVE, WRITE, at_least=0.95),
        Row("save", SAVE, BURN_SAVE, at_least=1),
        Row("save", SAVE, BURN_CLONE, at_least=20),
        Row("save, until it is on the disk", ours("save {d}/saved.mpk NamedMpk full durable"),
            Beside("fallocate + write + fsync", ours("raw-write {d}/raw durable")), at_least=1 / 0.7),
        Row("save f32 as half", SAVE_HALF, Beside("Burn, model moved", burn("save {d}/burn_saved_half.mpk mpk half moved")),
            at_least=3.2),
        Row("load half as f32, 1 thread", ours("load {d}/half.mpk NamedMpk 1 map f32"), BURN_LOAD_HALF),
        Row("load half as f32, 2 threads", ours("load {d}/half.mpk NamedMpk 2 map f32"), BURN_LOAD_HALF, at_least=4),
        Row("load 750,000 scalars of a V1 optimizer", ours("load {d}/scalars.mpk NamedMpk 0 map touch"), below=1),
        Row(f"find the parameters of a {mb} MB .bin without a type",
            ours("load {d}/full.bin BinFile 0 map positional=yes"), below=50),
        Row("save .bin", SAVE_BIN, WRITE, at_least=0.97),
        Row("save .bin", SAVE_BIN, Beside("Burn, model moved", burn("save {d}/burn_saved.bin bin full moved")), at_least=1),
        Row("load .bin into memory, 1 thread", LOAD_BIN_1, BURN_LOAD_BIN),
        Row("load .bin into memory, 2 threads", LOAD_BIN_2, BURN_LOAD_BIN),
        Row("load .bin into memory, 2 threads", LOAD_BIN_2, Beside("pread, 2 threads", ours("raw-read {d}/full.bin 2")),
            at_least=1),
        Row("load into memory, 2 threads: peak beyond the payload", figure=load_peak, at_most=8, needs=("full.mpk",)),
        Row("open mapped: anonymous memory", figure=open_anonymous, at_most=2 + mb / 4 * 200 / 2**20, needs=("full.mpk",)),
        Row("save: peak beyond the input", figure=save_peak("save {d}/saved.mpk NamedMpk full"), at_most=4),
        Row("save f32 as half: peak beyond the input", figure=save_peak("save {d}/saved_half.mpk NamedMpk half"), at_most=4),
        Row("750,000 scalars: anonymous memory", figure=scalars, at_most=2 * 3e6 / 2**20, needs=("scalars.mpk",)),
    ]

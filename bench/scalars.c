/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A file as Burn 0.13 wrote optimizers: tensors as lists of numbers. Written by hand, for Burn 0.13 cannot be asked in
 * the same program and librecord writes the later layout. */
#include <err.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"

static void text(FILE *f, const char *string)
{
    size_t length = strlen(string);

    if (length < 32) {
        putc(0xA0 | (int)length, f);
    } else {
        putc(0xD9, f);
        putc((int)length, f);
    }
    fputs(string, f);
}

static void big_endian(FILE *f, uint64_t number, int bytes)
{
    for (int i = bytes - 1; i >= 0; i--) {
        putc((int)(number >> (8 * i) & 0xFF), f);
    }
}

static void number(FILE *f, size_t i)
{
    float value = (float)(sin((double)i * 0.7) * 0.01);
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    putc(0xCA, f);
    big_endian(f, bits, 4);
}

static void tensor(FILE *f, size_t count)
{
    putc(0x82, f);
    text(f, "value");
    putc(0xDD, f);
    big_endian(f, count, 4);
    for (size_t i = 0; i < count; i++) {
        number(f, i);
    }
    text(f, "shape");
    putc(0x91, f);
    putc(0xCE, f);
    big_endian(f, count, 4);
}

span write_scalars(const model *m, char *const *words)
{
    enum { HALF = 375000 };
    const char *path = words[1];
    static const char *const metadata[][2] = {
        {"float", "f32"},
        {"int", "i32"},
        {"format", "burn_core::record::file::NamedMpkFileRecorder<burn_core::record::settings::FullPrecisionSettings>"},
        {"version", "0.13.2"},
        {"settings", "FullPrecisionSettings"},
    };
    FILE *f = fopen(path, "wb");

    (void)m;
    if (!f) {
        err(2, "%s", path);
    }
    putc(0x83, f);
    text(f, "metadata");
    putc(0x85, f);
    for (size_t i = 0; i < sizeof metadata / sizeof *metadata; i++) {
        text(f, metadata[i][0]);
        text(f, metadata[i][1]);
    }
    text(f, "item");
    putc(0x81, f);
    text(f, "0f4e2c88-7d7d-4c56-a1f9-0f9c7b6a5d43");
    putc(0x81, f);
    text(f, "V1");
    putc(0x81, f);
    text(f, "Rank1");
    putc(0x81, f);
    text(f, "momentum");
    putc(0x83, f);
    text(f, "time");
    putc(0x03, f);
    text(f, "moment_1");
    tensor(f, HALF);
    text(f, "moment_2");
    tensor(f, HALF);
    text(f, "_b");
    putc(0x90, f);
    if (fclose(f) != 0) {
        err(2, "%s", path);
    }
    return (span){0};
}

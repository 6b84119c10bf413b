/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Files of the flat format, made by hand: what no writer would make, too. */
#ifndef USE_PATHS_H
#define USE_PATHS_H

#include <stdint.h>
#include <string.h>

#include <librecord.h>

typedef struct file {
    unsigned char bytes[4096];
    size_t size;
} file;

static inline void put(file *f, const void *data, size_t size)
{
    memcpy(f->bytes + f->size, data, size);
    f->size += size;
}

static inline void put_number(file *f, uint64_t number, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) {
        f->bytes[f->size++] = (unsigned char)(number >> (8 * i));
    }
}

static inline void put_text(file *f, const char *text)
{
    put_number(f, strlen(text), 4);
    put(f, text, strlen(text));
}

static inline file begin(void)
{
    file f = {.size = 0};

    put(&f, "RECPATHS", 8);
    return f;
}

static inline void put_adapter(file *f, unsigned adapter)
{
    put(f, "a", 1);
    put_number(f, adapter, 1);
}

static inline void put_hint(file *f, unsigned transposed)
{
    put(f, "h", 1);
    put_number(f, transposed, 1);
}

static inline void put_tensor(file *f, const char *key, const float *data, uint32_t rank, const uint64_t *shape)
{
    uint64_t elements = 1;

    put(f, "t", 1);
    put_text(f, key);
    put_text(f, "");
    put_number(f, REC_DTYPE_F32, 4);
    put_number(f, rank, 4);
    for (uint32_t i = 0; i < rank; i++) {
        put_number(f, shape[i], 8);
        elements *= shape[i];
    }
    put_number(f, 4 * elements, 8);
    for (uint64_t i = 0; i < elements; i++) { /* whole numbers: little-endian wherever this runs */
        union {
            float number;
            uint32_t bits;
        } u = {.number = data[i]};
        put_number(f, u.bits, 4);
    }
}

/** Numbers of paths_adapters. */
enum { BURN = 0, PYTORCH = 1, EITHER = 2, FOREIGN = 3, TURNED = 4, ABSENT = 5 };

#endif

/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Mutations of MessagePack by its structure: items are left out, doubled, exchanged, put elsewhere, given another kind
 * or width, and the counts of what holds them follow, so that the result still is MessagePack (but for what the
 * fuzzer's own mutations do to it one time in three). */
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

enum { ITEMS_MOST = 4096, DEPTH_MOST = 256, NONE = UINT32_MAX };

/* An item: its bytes, and what holds it. */
typedef struct item {
    uint32_t at, body, end; /* `body`: behind its head */
    uint32_t parent;        /* NONE: the outermost */
    uint64_t count;         /* of a list its items, of a map its keys and values, of bytes and text their length */
    bool list, map, text, bytes;
} item;

typedef struct items {
    item at[ITEMS_MOST];
    uint32_t count;
} items;

static uint64_t big_endian(const uint8_t *data, unsigned width)
{
    uint64_t number = 0;
    for (unsigned i = 0; i < width; i++) {
        number = number << 8 | data[i];
    }
    return number;
}

/* Reads the head at `at`. @return false: it is cut. */
static bool read_head(const uint8_t *data, size_t size, size_t at, item *it)
{
    static const uint8_t fixed[] = {4, 8, 1, 2, 4, 8, 1, 2, 4, 8}; /* from 0xca on */
    uint8_t first = data[at];
    unsigned width = 0, rest = 0;
    *it = (item){.at = (uint32_t)at};
    if (first < 0x80 || first >= 0xe0) {
        rest = 0;
    } else if (first < 0xa0) {
        it->map = first < 0x90;
        it->list = !it->map;
        it->count = (uint64_t)(first & 15) << it->map;
    } else if (first < 0xc0) {
        it->text = true;
        it->count = first & 31;
    } else if (first >= 0xc4 && first <= 0xc6) {
        it->bytes = true;
        width = 1u << (first - 0xc4);
    } else if (first >= 0xc7 && first <= 0xc9) {
        it->bytes = true; /* an extension: its type counts as a byte */
        width = 1u << (first - 0xc7);
        rest = 1;
    } else if (first >= 0xca && first <= 0xd3) {
        rest = fixed[first - 0xca];
    } else if (first >= 0xd4 && first <= 0xd8) {
        rest = 1 + (1u << (first - 0xd4));
    } else if (first >= 0xd9 && first <= 0xdb) {
        it->text = true;
        width = 1u << (first - 0xd9);
    } else if (first >= 0xdc) {
        it->map = first >= 0xde;
        it->list = !it->map;
        width = first & 1 ? 4 : 2;
    }
    if (width > size - at - 1) {
        return false;
    }
    if (width) {
        it->count = big_endian(data + at + 1, width) << it->map;
    }
    it->body = (uint32_t)(at + 1 + width);
    it->end = it->body + rest;
    if (it->text || it->bytes) {
        if (it->count > size - it->body) {
            return false;
        }
        it->end += (uint32_t)it->count;
    }
    return it->end <= size;
}

/* Takes apart what is whole of it. */
static void parse(const uint8_t *data, size_t size, items *all)
{
    uint32_t stack[DEPTH_MOST], depth = 0;
    uint64_t left[DEPTH_MOST];
    size_t at = 0;
    all->count = 0;
    while (at < size && all->count < ITEMS_MOST) {
        item *it = &all->at[all->count];
        if (!read_head(data, size, at, it)) {
            break;
        }
        it->parent = depth ? stack[depth - 1] : NONE;
        at = it->end;
        all->count++;
        if (depth) {
            left[depth - 1]--;
        }
        if ((it->list || it->map) && it->count && depth < DEPTH_MOST) {
            stack[depth] = all->count - 1;
            left[depth++] = it->count;
        }
        while (depth && left[depth - 1] == 0) {
            all->at[stack[--depth]].end = (uint32_t)at;
        }
        if (!depth) {
            break;
        }
    }
    while (depth) { /* cut: what is open ends here */
        all->at[stack[--depth]].end = (uint32_t)at;
    }
}

/* A head of `count` for what is a list or map, in a form that holds it. @return its length. */
static size_t make_head(uint8_t *out, const item *of, uint64_t count, bool wide)
{
    uint64_t shown = of->map ? count / 2 : count;
    if (shown < 16 && !wide) {
        out[0] = (uint8_t)((of->map ? 0x80 : 0x90) | shown);
        return 1;
    }
    out[0] = of->map ? 0xdf : 0xdd;
    for (unsigned i = 0; i < 4; i++) {
        out[1 + i] = (uint8_t)(shown >> (24 - 8 * i));
    }
    return 5;
}

/* What is put together anew. */
typedef struct text {
    uint8_t *data;
    size_t size, room;
} text;

static void put(text *t, const uint8_t *data, size_t size)
{
    if (size <= t->room - t->size) {
        if (size) {
            memcpy(t->data + t->size, data, size);
        }
        t->size += size;
    } else {
        t->room = t->size; /* the rest is cut */
    }
}

/* Puts `with` in place of bytes [from, to) that hold children of `parent`, of which there are `more` more then. */
static size_t replace(uint8_t *data, size_t size, size_t room, const items *all, uint32_t parent, int64_t more,
                      size_t from, size_t to, const uint8_t *with, size_t with_size)
{
    text t = {.data = malloc(room + 1), .room = room};
    uint8_t head[8];
    if (!t.data) {
        return size;
    }
    if (parent != NONE) {
        const item *p = &all->at[parent];
        put(&t, data, p->at);
        put(&t, head, make_head(head, p, (uint64_t)((int64_t)p->count + more), false));
        put(&t, data + p->body, from - p->body);
    } else {
        put(&t, data, from);
    }
    put(&t, with, with_size);
    put(&t, data + to, size - to);
    memcpy(data, t.data, t.size);
    size = t.size;
    free(t.data);
    return size;
}

/* A scalar or two that stand for many. */
static size_t any_item(uint8_t *out, uint64_t *seed)
{
    static const struct {
        const char *bytes;
        size_t size;
    } some[] = {
        {"\xc0", 1},
        {"\xc2", 1},
        {"\xc3", 1},
        {"\x00", 1},
        {"\xff", 1},
        {"\xcc\xff", 2},
        {"\xcd\x00\x01", 3},
        {"\xce\xff\xff\xff\xff", 5},
        {"\xcf\xff\xff\xff\xff\xff\xff\xff\xff", 9},
        {"\xd3\x80\0\0\0\0\0\0\0", 9},
        {"\xca\x7f\xc0\0\0", 5},
        {"\xcb\x7f\xf0\0\0\0\0\0\0", 9},
        {"\xa0", 1},
        {"\xa1.", 2},
        {"\x90", 1},
        {"\x80", 1},
        {"\xc4\x00", 2},
        {"\xc4\x04\0\0\x80\x3f", 6},
        {"\xa5value", 6},
        {"\xa2id", 3},
        {"\xa5param", 6},
        {"\xa5shape", 6},
        {"\xa5"
         "bytes",
         6},
        {"\xa5"
         "dtype",
         6},
        {"\xa3"
         "F32",
         4},
        {"\xa4"
         "BF16",
         5},
        {"\xa6QFloat", 7},
        {"\x93\x01\x02\x03", 4},
        {"\x92\xcf\xff\xff\xff\xff\xff\xff\xff\xff\x02", 11},
        {"\xd4\x01\x02", 3},
        {"\x83\xa5"
         "bytes\xc4\x04\0\0\0\0\xa5shape\x91\x01\xa5"
         "dtype\xa3"
         "F32",
         29},
    };
    size_t i = (size_t)fuzz_random(seed) % (sizeof some / sizeof *some);
    memcpy(out, some[i].bytes, some[i].size);
    return some[i].size;
}

size_t fuzz_mutate_mpk(uint8_t *data, size_t size, size_t room, unsigned number)
{
    static items all;
    uint64_t seed = (uint64_t)number * 2654435761u + 88172645463325252u;
    const item *it, *other;
    uint8_t made[64], *copy;
    size_t length;
    if (fuzz_random(&seed) % 3 == 0 || size == 0) {
        return fuzz_mutate_bytes(data, size, room);
    }
    parse(data, size, &all);
    if (all.count < 2) {
        return fuzz_mutate_bytes(data, size, room);
    }
    it = &all.at[1 + fuzz_random(&seed) % (all.count - 1)];
    other = &all.at[fuzz_random(&seed) % all.count];
    switch (fuzz_random(&seed) % 8) {
    case 0: /* leaves it out, of a map its entry (or the half of two) */
        if (all.at[it->parent].map) {
            const item *next = it;
            while (++next < all.at + all.count && next->parent != it->parent) {
            }
            if (next < all.at + all.count) {
                return replace(data, size, room, &all, it->parent, -2, it->at, next->end, NULL, 0);
            }
            return replace(data, size, room, &all, it->parent, 0, it->at, it->end, (const uint8_t *)"\xc0", 1);
        }
        return replace(data, size, room, &all, it->parent, -1, it->at, it->end, NULL, 0);
    case 1: /* another kind */
        length = any_item(made, &seed);
        return replace(data, size, room, &all, it->parent, 0, it->at, it->end, made, length);
    case 2: /* a copy of another in its place */
    case 3: /* or one more of a list, in front of it */
        length = other->end - other->at;
        copy = malloc(length + 1);
        if (copy) {
            bool more = fuzz_random(&seed) % 2 && all.at[it->parent].list;
            memcpy(copy, data + other->at, length);
            size = replace(data, size, room, &all, it->parent, more, it->at, more ? it->at : it->end, copy, length);
            free(copy);
        }
        return size;
    case 4: /* a new entry of a map, an item of a list */
        if (all.at[it->parent].map || all.at[it->parent].list) {
            bool map = all.at[it->parent].map;
            size_t end = all.at[it->parent].end;
            length = any_item(made, &seed);
            if (map && length < 30) {
                length += any_item(made + length, &seed);
            }
            return replace(data, size, room, &all, it->parent, map ? 2 : 1, end, end, made, length);
        }
        return size;
    case 5: /* a count that is not so: one more, one less, very many */
        if (it->list || it->map) {
            uint64_t r = fuzz_random(&seed) % 4;
            uint64_t count = r == 0 ? it->count + 1 + it->map : r == 1 ? UINT32_MAX : it->count - (it->count > 0);
            length = make_head(made, it, count, r == 1);
            return replace(data, size, room, &all, NONE, 0, it->at, it->body, made, length);
        }
        return fuzz_mutate_bytes(data, size, room);
    case 6: /* its body by the fuzzer's own, the length of a text as it is then */
        if (it->text && it->end - it->body < 32) {
            uint8_t body[31];
            length = it->end - it->body;
            memcpy(body, data + it->body, length);
            length = fuzz_mutate_bytes(body, length, sizeof body);
            made[0] = (uint8_t)(0xa0 | length);
            memcpy(made + 1, body, length);
            return replace(data, size, room, &all, it->parent, 0, it->at, it->end, made, length + 1);
        }
        return fuzz_mutate_bytes(data, size, room);
    default: /* deeper: it becomes the item of a list, or the value of a map */
        length = it->end - it->at;
        copy = malloc(length + 2);
        if (copy) {
            bool map = fuzz_random(&seed) % 2;
            copy[0] = map ? 0x81 : 0x91;
            copy[1] = 0xa0; /* an empty key */
            memcpy(copy + 1 + map, data + it->at, length);
            size = replace(data, size, room, &all, it->parent, 0, it->at, it->end, copy, length + 1 + map);
            free(copy);
        }
        return size;
    }
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Values and metadata that differ, side by side for people. Texts that do not fit are shown from where they differ on,
 * so that two different ones never look the same. */
#include <string.h>

#include "tools/diff/diff_private.h"

enum { WIDTH = 28, BEFORE = 8 };

/* Texts, NULL: not there. Those that both are too long to be shown whole: the first of them from a little before where
 * they differ. */
static void string_texts(text out[SIDES], const char *a, size_t length_a, const char *b, size_t length_b)
{
    const char *texts[SIDES] = {a, b};
    size_t lengths[SIDES] = {length_a, length_b}, same = 0;

    while (same < length_a && same < length_b && a[same] == b[same]) {
        same++;
    }
    if (same > WIDTH / 2) {
        same -= BEFORE;
        while (same && ((unsigned char)a[same] & 0xC0) == 0x80) {
            same--;
        }
    } else {
        same = 0;
    }
    for (int which = 0; which < SIDES; which++) {
        size_t left = lengths[which] - same, shown = left;
        text safe = {0};
        if (!texts[which]) {
            tool_text_put(&out[which], "-");
            continue;
        }
        if (shown > 4 * WIDTH) {
            shown = 4 * WIDTH; /* more bytes than fit */
        }
        tool_text_put(&safe, same ? "…" : "\"");
        tool_text_safe(&safe, texts[which] + same, shown);
        tool_text_put(&safe, shown == left ? "\"" : "…");
        tool_text_shortened(&out[which], safe.at, WIDTH, false);
        tool_text_free(&safe);
    }
}

static void item_text(text *t, const rec_value *value, uint64_t index, uint64_t count)
{
    rec_scalar x = rec_value_number(value, index);
    char number[NUMBER_ROOM];

    tool_text_format(t, "[%llu] %s", (unsigned long long)index, index < count ? tool_scalar_text(&x, number) : "-");
    tool_text_format(t, " of %s", tool_grouped(count, number));
}

/* The first number that differs. */
static void numbers_texts(text out[SIDES], const rec_value *a, const rec_value *b)
{
    uint64_t count_a = rec_value_count(a), count_b = rec_value_count(b), at = 0;
    char x[NUMBER_ROOM], y[NUMBER_ROOM];

    for (; at < count_a && at < count_b; at++) {
        rec_scalar p = rec_value_number(a, at), q = rec_value_number(b, at);
        if (strcmp(tool_scalar_text(&p, x), tool_scalar_text(&q, y)) != 0) {
            break;
        }
    }
    item_text(&out[SIDE_A], a, at, count_a);
    item_text(&out[SIDE_B], b, at, count_b);
}

static void texts_of(text out[SIDES], const rec_value *a, const rec_value *b)
{
    const rec_value *values[SIDES] = {a, b};
    int32_t kind_a = rec_value_kind(a), kind_b = rec_value_kind(b);

    if (a && b && kind_a == REC_KIND_STRING && kind_b == REC_KIND_STRING) {
        rec_scalar x = rec_value_scalar(a), y = rec_value_scalar(b);
        string_texts(out, x.text, (size_t)x.v.length, y.text, (size_t)y.v.length);
        return;
    }
    for (int which = 0; which < SIDES; which++) {
        tool_text_put(&out[which], "");
        if (values[which]) {
            tool_leaf_text(&out[which], values[which], WIDTH);
        } else {
            tool_text_put(&out[which], "-");
        }
    }
    if (strcmp(out[SIDE_A].at, out[SIDE_B].at) != 0) {
        return;
    }
    if (kind_a == REC_KIND_NUMBERS && kind_b == REC_KIND_NUMBERS) {
        tool_text_free(&out[SIDE_A]);
        tool_text_free(&out[SIDE_B]);
        numbers_texts(out, a, b);
        return;
    }
    tool_text_format(&out[SIDE_A], " (%s)", kind_a == kind_b ? "a" : tool_kind_word(kind_a));
    tool_text_format(&out[SIDE_B], " (%s)", kind_a == kind_b ? "another" : tool_kind_word(kind_b));
}

static void add_row(table *t, const char *what, const char *key, text out[SIDES])
{
    tool_table_cell(t, what);
    tool_table_name(t, key);
    tool_table_take(t, &out[SIDE_A]);
    tool_table_take(t, &out[SIDE_B]);
}

static void metadata_row(table *t, const metadatum *m)
{
    const char *a = m->value[SIDE_A], *b = m->value[SIDE_B];
    text out[SIDES] = {{0}};

    string_texts(out, a, a ? strlen(a) : 0, b, b ? strlen(b) : 0);
    add_row(t, "metadata", m->key, out);
}

bool tool_diff_print_values(const comparison *c, bool all)
{
    size_t count = c->value_count + c->metadata_count, shown = all || count < ROWS_SHOWN ? count : ROWS_SHOWN;
    char number[NUMBER_ROOM];
    table t;

    if (!count) {
        return false;
    }
    tool_table_begin(&t, "llll", "|KEY|A|B");
    t.shrink = 1;
    for (size_t i = 0; i < shown; i++) {
        text out[SIDES] = {{0}};
        if (i >= c->value_count) {
            metadata_row(&t, &c->metadata[i - c->value_count]);
            continue;
        }
        const difference *d = &c->values[i];
        const item *a = d->of[SIDE_A], *b = d->of[SIDE_B];
        texts_of(out, a ? a->value : NULL, b ? b->value : NULL);
        add_row(&t, a && b ? "value" : a ? "removed" : "added", a ? a->key : b->key, out);
    }
    tool_table_print(&t, stdout);
    if (shown < count) {
        printf("… and %s more\n", tool_grouped(count - shown, number));
    }
    putchar('\n');
    return shown < count;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The differences between two records, for people: what changed most comes first, repeated layers are folded, and parts
 * that did not change are named. */
#include <stdlib.h>
#include <string.h>

#include "tools/diff/diff_private.h"

enum { LABEL = 12, FROZEN_SHOWN = 8 };

static void print_side(const comparison *c, int which)
{
    const side *d = &c->sides[which];
    const char *version = tool_burn_version(d->record);
    char tensors[NUMBER_ROOM], elements[NUMBER_ROOM], values[NUMBER_ROOM];

    printf("%s%c  ", tool_style(STYLE_BOLD), 'A' + which);
    tool_print_safe(stdout, d->name);
    printf("%s\n   %s", tool_style(STYLE_PLAIN), rec_record_origin(d->record)->recorder);
    if (version) {
        fputs(", Burn ", stdout);
        tool_print_safe(stdout, version);
    }
    printf(": %s tensor%s, %s parameter%s", tool_grouped(d->tensors.count, tensors), tool_plural(d->tensors.count),
           tool_grouped(d->elements, elements), tool_plural(d->elements));
    if (d->values.count) {
        printf("; %s value%s", tool_grouped(d->values.count, values), tool_plural(d->values.count));
    }
    printf("%s\n", d->by_position ? "; by position" : "");
}

/* ----------------------------------------------------------------------------------------------------- changes -- */

/* "0.0123": three digits, as short as that gets. */
static const char *short_number(double x, char *buffer)
{
    (void)snprintf(buffer, NUMBER_ROOM, "%.3g", x);
    return buffer;
}

/* A share of what there is: never 0 % of something, never 100 % but of all. */
static const char *share(uint64_t part, uint64_t all, char *buffer)
{
    double percent = 100.0 * (double)part / (double)all;

    if (part == all) {
        return "100 %";
    }
    if (percent < 0.5 && part) {
        return "<1 %";
    }
    if (percent > 99.5) {
        return ">99 %";
    }
    (void)snprintf(buffer, NUMBER_ROOM, "%.0f %%", percent);
    return buffer;
}

/* One line: a pair, or several pairs of one pattern. */
typedef struct line {
    const pair *most; /* the one that changed most */
    double cosine;    /* the least */
    double max_abs;   /* the largest */
    double nmse;      /* the largest */
    uint64_t differing, count, odd;
    size_t order; /* of `most` among those that are sorted */
} line;

static void add_to_line(line *l, const pair *p, size_t order)
{
    const figures *f = p->figures;
    double cosine = tool_diff_cosine(f), nmse = tool_diff_nmse(f);

    if (!l->most) {
        *l = (line){.most = p, .cosine = cosine, .order = order, .max_abs = f->max_abs};
    }
    l->nmse = nmse > l->nmse ? nmse : l->nmse;
    l->cosine = cosine < l->cosine || !(l->cosine == l->cosine) ? cosine : l->cosine;
    l->max_abs = f->max_abs > l->max_abs ? f->max_abs : l->max_abs;
    l->differing += f->differing;
    l->count += f->count;
    l->odd += f->odd;
}

/* What must be equal for pairs to stand in one line. */
static const char *class_of(const pair *p)
{
    return !p->figures || p->verdict == PAIR_EQUAL ? ""
           : p->verdict == PAIR_WITHIN             ? "within"
           : p->verdict == PAIR_ROUNDED            ? "rounded"
                                                   : "differs";
}

static void add_noise(table *t, double nmse)
{
    char number[NUMBER_ROOM];

    tool_table_cell(t, short_number(nmse, number));
    (void)snprintf(number, sizeof number, "%.1f dB", tool_diff_sqnr(nmse));
    tool_table_cell(t, number);
}

/* Columns that a listing lacks are empty in each of its rows. @param all with the place, which is then in a line alone
 */
static void add_change(table *t, const comparison *c, const char *key, uint64_t repeats, const line *l, bool all)
{
    const pair *p = l->most;
    const figures *f = p->figures;
    char number[NUMBER_ROOM];
    text cell = {0};

    tool_table_key(t, key, repeats);
    if (!f->differing) {
        tool_table_cell(t, "bytes");
        tool_table_skip(t, 7);
        return;
    }
    tool_table_cell(t, l->odd ? (f->nan[SIDE_A] != f->nan[SIDE_B] ? "NaN" : "inf") : short_number(p->change, number));
    if (l->cosine == l->cosine) {
        (void)snprintf(number, sizeof number, "%.6f", l->cosine);
        /* 1 is printed only for equal directions. */
        tool_table_cell(t, l->cosine < 1 && l->cosine > 0.9999995 ? "0.999999" : number);
    } else {
        tool_table_cell(t, "-");
    }
    tool_table_cell(t, short_number(l->max_abs, number));
    tool_table_cell(t, share(l->differing, l->count, number));
    if (c->w->noise) {
        add_noise(t, l->nmse);
    } else {
        tool_table_skip(t, 2);
    }
    if (all) {
        const rec_tensor *a = p->of[SIDE_A]->tensor;
        tool_text_place(&cell, a, f->odd ? f->odd_at : f->max_abs_at);
    }
    tool_table_take(t, &cell);
    tool_table_cell(t, p->verdict == PAIR_DIFFERS ? "" : class_of(p));
}

static int by_order(const void *a, const void *b)
{
    const line *x = *(line *const *)a, *y = *(line *const *)b;

    return x->order < y->order ? -1 : x->order > y->order;
}

static bool print_changes(const comparison *c, const pair *const *sorted, size_t count, bool all)
{
    enum { BESIDE = 20 }; /* columns that a listing of tensors has not */
    entry *entries = xmalloc(c->pair_count * sizeof *entries);
    size_t *of = xmalloc(c->pair_count * sizeof *of), fold_count, shown = 0, made = 0, width = tool_output_width();
    char number[NUMBER_ROOM];
    line *lines, **order;
    fold *folds;
    bool folded = false;
    table t;

    for (size_t i = 0; i < c->pair_count; i++) {
        const pair *p = &c->pairs[i];
        const rec_tensor *a = p->of[SIDE_A]->tensor;
        entries[i] = (entry){tool_diff_key(c, p), class_of(p), rec_tensor_shape(a), rec_tensor_rank(a), 0};
    }
    width = all ? FOLD_NOTHING : width > BESIDE ? width - BESIDE : 1;
    folds = tool_folds_make(entries, c->pair_count, width, false, &fold_count, of);
    lines = xmalloc(fold_count * sizeof *lines);
    memset(lines, 0, fold_count * sizeof *lines);
    order = xmalloc(fold_count * sizeof *order);
    for (size_t i = 0; i < count; i++) {
        add_to_line(&lines[of[sorted[i] - c->pairs]], sorted[i], i);
    }
    for (size_t i = 0; i < fold_count; i++) {
        if (lines[i].most) {
            order[made++] = &lines[i];
        }
    }
    qsort(order, made, sizeof(line *), by_order);
    tool_table_begin(&t, "lrrrrrrrll", "KEY||CHANGE|COSINE|LARGEST|DIFFER|NMSE|SQNR|AT|");
    for (; shown < made && (all || shown < ROWS_SHOWN); shown++) {
        const fold *f = &folds[order[shown] - lines];
        folded = folded || f->repeats * f->names > 1;
        add_change(&t, c, f->key, f->repeats, order[shown], all);
    }
    tool_table_print(&t, stdout);
    if (shown < made) {
        printf("… and %s more\n", tool_grouped(made - shown, number));
    }
    tool_folds_free(folds, fold_count);
    free(order);
    free(lines);
    free(of);
    free(entries);
    return folded || shown < made;
}

/* ---------------------------------------------------------------------------------------------------- the rest -- */

static void label(const char *word)
{
    printf("%-*s", LABEL, word);
}

static void element_text(text *t, const rec_tensor *tensor, uint64_t at)
{
    char buffer[NUMBER_ROOM];
    rec_scalar x = tool_diff_element(tensor, at);

    tool_text_put(t, x.kind == REC_KIND_NIL     ? "?"
                     : x.kind == REC_KIND_FLOAT ? tool_float_text(x.v.f, rec_tensor_dtype(tensor), buffer)
                                                : tool_scalar_text(&x, buffer));
}

/* Prints one place of a pair, with the values of both sides. */
static void print_place(const comparison *c, const pair *p, const char *word, uint64_t at, const char *behind)
{
    const rec_tensor *a = p->of[SIDE_A]->tensor;
    const rec_tensor *b = p->of[SIDE_B]->tensor;
    const char *key = tool_diff_key(c, p);
    text t = {0};

    tool_text_name(&t, key);
    tool_text_place(&t, a, at);
    tool_text_put(&t, ": ");
    element_text(&t, a, at);
    tool_text_put(&t, " | ");
    element_text(&t, b, at);
    label(word);
    printf("%s%s\n", t.at, behind);
    tool_text_free(&t);
}

/* Where the largest differences of all are. */
static void print_largest(const comparison *c, const pair *const *sorted, size_t count)
{
    const pair *absolute = NULL, *relative = NULL, *odd = NULL;
    char behind[2 * NUMBER_ROOM], number[NUMBER_ROOM];
    uint64_t odds = 0;

    for (size_t i = 0; i < count; i++) {
        const pair *p = sorted[i];
        const figures *f = p->figures;
        odd = odd || !f->odd ? odd : p;
        odds += f->odd;
        absolute = f->max_abs > (absolute ? absolute->figures->max_abs : 0) ? p : absolute;
        relative = f->max_rel > (relative ? relative->figures->max_rel : 0) ? p : relative;
    }
    if (odd) {
        (void)snprintf(behind, sizeof behind, " (%s place%s)", tool_grouped(odds, number), tool_plural(odds));
        print_place(c, odd, "not finite", odd->figures->odd_at, behind);
    }
    if (absolute) {
        (void)snprintf(behind, sizeof behind, " (apart by %s)", short_number(absolute->figures->max_abs, number));
        print_place(c, absolute, "largest", absolute->figures->max_abs_at, behind);
    }
    if (relative && relative != absolute) {
        (void)snprintf(behind, sizeof behind, " (relative: %s)", short_number(relative->figures->max_rel, number));
        print_place(c, relative, "relative", relative->figures->max_rel_at, behind);
    }
}

static bool print_frozen(const comparison *c, bool all)
{
    frozen f;
    entry *entries;
    size_t count, *of, shown = 0, left = 0;
    uint64_t *sums;
    fold *folds;
    char tensors[NUMBER_ROOM], elements[NUMBER_ROOM];

    tool_diff_frozen(c, &f);
    entries = xmalloc(f.count * sizeof *entries);
    of = xmalloc(f.count * sizeof *of);
    for (size_t i = 0; i < f.count; i++) {
        entries[i] = (entry){.path = f.at[i].key, .dtype = f.at[i].changed ? "changed" : "frozen"};
    }
    folds = tool_folds_make(entries, f.count, tool_output_width(), false, &count, of);
    sums = xmalloc(2 * count * sizeof *sums);
    memset(sums, 0, 2 * count * sizeof *sums);
    for (size_t i = 0; i < f.count; i++) {
        sums[2 * of[i]] += f.at[i].tensors;
        sums[2 * of[i] + 1] += f.at[i].elements;
    }
    for (size_t i = 0; i < count; i++) {
        if (f.at[folds[i].first].changed || sums[2 * i + 1] == 0) {
            continue;
        }
        if (!all && shown == FROZEN_SHOWN) {
            left++;
            continue;
        }
        label(shown++ ? "" : "frozen");
        tool_print_safe(stdout, folds[i].key);
        printf(" (%s tensor%s, %s parameter%s)\n", tool_grouped(sums[2 * i], tensors), tool_plural(sums[2 * i]),
               tool_counted(sums[2 * i + 1], elements), tool_plural(sums[2 * i + 1]));
    }
    if (left) {
        label("");
        printf("… and %s more\n", tool_grouped(left, tensors));
    }
    tool_folds_free(folds, count);
    free(sums);
    free(of);
    free(entries);
    tool_diff_frozen_free(&f);
    return left > 0;
}

static void count_word(text *t, size_t number, const char *one, const char *several)
{
    char digits[NUMBER_ROOM];

    if (number) {
        tool_text_format(t, "%s%s %s", t->length ? ", " : "", tool_grouped(number, digits),
                         number == 1 ? one : several);
    }
}

static void print_sum(const comparison *c, bool shortened)
{
    enum { BESIDE_HINT = 50 }; /* columns, of 80 */
    size_t differ = c->verdicts[PAIR_DIFFERS] + c->verdicts[PAIR_SHAPE] + c->verdicts[PAIR_APART];
    text t = {0};

    count_word(&t, c->verdicts[PAIR_EQUAL], "tensor equal", "tensors equal");
    count_word(&t, differ, "tensor differs", "tensors differ");
    count_word(&t, c->verdicts[PAIR_WITHIN], "within the tolerance", "within the tolerance");
    count_word(&t, c->verdicts[PAIR_ROUNDED], "equal once rounded", "equal once rounded");
    count_word(&t, c->verdicts[PAIR_UNREAD], "not read", "not read");
    count_word(&t, c->removed, "removed", "removed");
    count_word(&t, c->added, "added", "added");
    count_word(&t, c->renamed, "renamed", "renamed");
    count_word(&t, c->values_equal, "value equal", "values equal");
    count_word(&t, c->value_count, "value differs", "values differ");
    count_word(&t, c->metadata_count, "line of metadata differs", "lines of metadata differ");
    fputs(t.at ? t.at : "nothing to compare", stdout);
    if (shortened) {
        printf("%s%s(--all lists every one)%s", t.length > BESIDE_HINT ? "\n" : "      ", tool_style(STYLE_DIM),
               tool_style(STYLE_PLAIN));
    }
    tool_text_free(&t);
    putchar('\n');
}

static void print_equal(const comparison *c)
{
    const side *a = &c->sides[SIDE_A];
    char number[NUMBER_ROOM];

    printf("equal: %s tensor%s", tool_grouped(c->pair_count, number), tool_plural(c->pair_count));
    printf(", %s parameter%s", tool_grouped(a->elements, number), tool_plural(a->elements));
    if (c->values_equal) {
        printf(", %s value%s", tool_grouped(c->values_equal, number), tool_plural(c->values_equal));
    }
    puts(c->verdicts[PAIR_UNREAD] ? "; the tensors' data were not read" : "");
}

static void print_remarks(const comparison *c)
{
    char number[NUMBER_ROOM];
    uint64_t nans = 0;

    for (size_t i = 0; i < c->pair_count; i++) {
        const figures *f = c->pairs[i].figures;
        nans += f && f->nan[SIDE_A] && f->nan[SIDE_B] && !c->w->nan_differs && !c->w->bits;
    }
    if (c->moved) {
        label("order");
        printf("%s tensor%s elsewhere in B%s\n", tool_grouped(c->moved, number), c->moved == 1 ? " stands" : "s stand",
               c->w->order ? "" : ", which counts only with --order");
    }
    if (nans) {
        label("NaN");
        printf("NaN on both sides counts as equal (--nan-differs)\n");
    }
}

static void print_hint(const comparison *c)
{
    char *hint = tool_diff_hint(c);

    if (hint) {
        label("names");
        tool_print_safe(stdout, hint);
        putchar('\n');
    }
    free(hint);
}

void tool_diff_print(const session *s, const comparison *c)
{
    bool all = s->o->all, shortened,
         found = c->differs || c->verdicts[PAIR_WITHIN] || c->verdicts[PAIR_ROUNDED] || c->removed || c->added ||
                 c->renamed || c->dtypes || c->shapes || c->value_count || c->metadata_count ||
                 c->verdicts[PAIR_DIFFERS];
    size_t count;
    const pair **sorted;

    if (c->w->brief) {
        tool_print_safe(stdout, c->sides[SIDE_A].name);
        fputs(" and ", stdout);
        tool_print_safe(stdout, c->sides[SIDE_B].name);
        puts(c->differs ? " differ" : " are equal");
        return;
    }
    if (!found) {
        print_remarks(c);
        print_equal(c);
        return;
    }
    print_side(c, SIDE_A);
    print_side(c, SIDE_B);
    putchar('\n');
    sorted = tool_diff_sorted(c, &count);
    shortened = tool_diff_print_structure(c, all);
    shortened = tool_diff_print_values(c, all) || shortened;
    if (count) {
        shortened = print_changes(c, sorted, count, all) || shortened;
        putchar('\n');
        print_largest(c, sorted, count);
    }
    shortened = print_frozen(c, all) || shortened;
    print_remarks(c);
    print_hint(c);
    printf("%s", c->differs ? "" : "equal: ");
    print_sum(c, shortened);
    free(sorted);
}

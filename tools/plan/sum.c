/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Summary of a plan: tensors by action, operations by reason, the base's tensors by name. */
#include <stdlib.h>
#include <string.h>

#include "tools/plan/plan.h"

/* What happens to mapped tensors on the way, counted by operation and by the part of the reason that names no rules. */
typedef struct tally {
    const char *operations, *why;
    size_t why_length;
    uint64_t count;
} tally;

/* "Linear" of "Linear, rules 2, 4" */
static size_t without_rules(const char *why)
{
    const char *rule = strstr(why, "rule");
    size_t length = strlen(why);

    if (rule && (rule == why || rule[-1] == ' ')) {
        length = (size_t)(rule - why);
        while (length && strchr(" ,", why[length - 1])) {
            length--;
        }
    }
    return length;
}

static bool same_words(const tally *t, const rec_plan_line *line)
{
    return strcmp(t->operations, line->operations) == 0 && t->why_length == without_rules(line->why) &&
           strncmp(t->why, line->why, t->why_length) == 0;
}

static int by_count(const void *a, const void *b)
{
    const tally *x = a, *y = b;

    return x->count < y->count ? 1 : x->count > y->count ? -1 : strcmp(x->why, y->why);
}

bool tool_plan_is_plain(const planned *p)
{
    uint64_t count = rec_plan_count(p->plan);

    for (uint64_t i = 0; i < count; i++) {
        const rec_plan_line *line = tool_plan_line(p->plan, i);
        if (line->action != REC_PLAN_MAPPED || *line->operations || strcmp(line->from, line->to) != 0) {
            return false;
        }
    }
    return p->totals.fatal + p->totals.warnings == 0 && !p->base;
}

/* A tensor of a source in a line of a plan. A source's name is one text, whose address tells sources of one name apart.
 */
typedef struct place {
    const char *source, *key;
    bool used;
} place;

/* The used ones of a key come first. */
static int by_place(const void *a, const void *b)
{
    const place *x = a, *y = b;
    int order = x->source == y->source ? strcmp(x->key, y->key) : (uintptr_t)x->source < (uintptr_t)y->source ? -1 : 1;

    return order ? order : (int)y->used - (int)x->used;
}

/* How many of the sources' tensors go nowhere at all. One that is split has a line for each part, of which some may be
 * used; and the base is no source. */
static uint64_t count_unused(const planned *p, uint64_t count)
{
    uint64_t room = 1, places = 0, unused = 0;
    place *all;

    for (uint64_t i = 0; i < count; i++) {
        room += tool_plan_line(p->plan, i)->input_count + 1;
    }
    all = xmalloc((size_t)(room * sizeof *all));
    for (uint64_t i = 0; i < count; i++) {
        const rec_plan_line *line = tool_plan_line(p->plan, i);
        bool lost = line->action == REC_PLAN_DROPPED || line->action == REC_PLAN_UNEXPECTED;
        if (line->dtype_before == REC_DTYPE_NONE || (p->base && strcmp(line->source, "the base") == 0)) {
            continue;
        }
        if (lost) {
            all[places++] = (place){line->source, line->from, false};
        }
        for (uint64_t j = 0; line->action == REC_PLAN_MAPPED && j < line->input_count; j++) {
            all[places++] = (place){line->source, line->inputs[j], true};
        }
    }
    qsort(all, (size_t)places, sizeof *all, by_place);
    for (uint64_t i = 0; i < places; i++) {
        bool first = i == 0 || all[i].source != all[i - 1].source || strcmp(all[i].key, all[i - 1].key) != 0;
        unused += first && !all[i].used;
    }
    free(all);
    return unused;
}

void tool_plan_sum(const planned *p, text *t)
{
    uint64_t count = rec_plan_count(p->plan), used;
    uint64_t tensors[REC_PLAN_DEFAULT + 1] = {0}, values[REC_PLAN_DEFAULT + 1] = {0};
    char number[NUMBER_ROOM];

    for (uint64_t i = 0; i < count; i++) {
        const rec_plan_line *line = tool_plan_line(p->plan, i);
        bool source = line->action <= REC_PLAN_UNEXPECTED;
        if (line->action >= REC_PLAN_MAPPED && line->action <= REC_PLAN_DEFAULT) {
            (source && line->dtype_before == REC_DTYPE_NONE ? values : tensors)[line->action]++;
        }
    }
    used = p->totals.tensors - count_unused(p, count);
    tool_text_format(t, "%s tensor%s: ", tool_grouped(p->totals.tensors, number), tool_plural(p->totals.tensors));
    if (used != tensors[REC_PLAN_MAPPED] && tensors[REC_PLAN_MAPPED]) {
        tool_text_format(t, "%s mapped to ", tool_grouped(used, number));
        tool_text_put(t, tool_grouped(tensors[REC_PLAN_MAPPED], number));
    } else {
        tool_text_format(t, "%s mapped", tool_grouped(tensors[REC_PLAN_MAPPED], number));
    }
    tool_text_format(t, ", %s dropped", tool_grouped(tensors[REC_PLAN_DROPPED], number));
    tool_text_format(t, "; %s unexpected", tool_grouped(tensors[REC_PLAN_UNEXPECTED], number));
    tool_text_format(t, ", %s missing", tool_grouped(tensors[REC_PLAN_MISSING], number));
    if (tensors[REC_PLAN_KEPT]) {
        tool_text_format(t, ", %s kept from the base", tool_grouped(tensors[REC_PLAN_KEPT], number));
    }
    if (tensors[REC_PLAN_DEFAULT]) {
        tool_text_format(t, ", %s by default", tool_grouped(tensors[REC_PLAN_DEFAULT], number));
    }
    if (values[REC_PLAN_MAPPED]) {
        tool_text_format(t, "; %s value%s", tool_grouped(values[REC_PLAN_MAPPED], number),
                         tool_plural(values[REC_PLAN_MAPPED]));
    }
    if (values[REC_PLAN_DROPPED] + values[REC_PLAN_UNEXPECTED]) {
        uint64_t lost = values[REC_PLAN_DROPPED] + values[REC_PLAN_UNEXPECTED];
        tool_text_format(t, "; %s value%s left out", tool_grouped(lost, number), tool_plural(lost));
    }
}

/* The operations of a plan, the most frequent first: "12 transpose (Linear); 4 renamed (LayerNorm)". */
void tool_plan_operations(const planned *p, text *t)
{
    enum { SHOWN = 6, KNOWN = 64 };
    uint64_t count = rec_plan_count(p->plan), others = 0;
    tally known[KNOWN];
    size_t made = 0;
    char number[NUMBER_ROOM];

    for (uint64_t i = 0; i < count; i++) {
        const rec_plan_line *line = tool_plan_line(p->plan, i);
        size_t at = 0;
        if (line->action != REC_PLAN_MAPPED || !(*line->operations || strcmp(line->from, line->to) != 0)) {
            continue;
        }
        while (at < made && !same_words(&known[at], line)) {
            at++;
        }
        if (at < made) {
            known[at].count++;
        } else if (made < KNOWN) {
            known[made++] = (tally){line->operations, line->why, without_rules(line->why), 1};
        } else {
            others++;
        }
    }
    if (made) {
        qsort(known, made, sizeof *known, by_count);
    }
    for (size_t i = SHOWN; i < made; i++) {
        others += known[i].count;
    }
    for (size_t i = 0; i < made && i < SHOWN; i++) {
        tool_text_format(t, "%s%s %s", t->length ? "; " : "", tool_grouped(known[i].count, number),
                         *known[i].operations ? "" : "renamed");
        tool_text_safe(t, known[i].operations, strlen(known[i].operations));
        if (known[i].why_length) {
            tool_text_put(t, " (");
            tool_text_safe(t, known[i].why, known[i].why_length);
            tool_text_put(t, ")");
        }
    }
    if (others) {
        tool_text_format(t, "; %s otherwise", tool_grouped(others, number));
    }
}

/* Prints the names of the base's tensors with one action. */
static void print_base_names(const planned *p, const char *word, int32_t action, const char *indent, FILE *out)
{
    enum { WIDTH = 100, LEFT = 30 };
    uint64_t count = rec_plan_count(p->plan), tensors = 0, shown = 0, told = 0;
    entry *entries = xmalloc((size_t)count * sizeof *entries);
    char number[NUMBER_ROOM];
    size_t lines = 0;
    text t = {0};
    fold *folds;

    for (uint64_t i = 0; i < count; i++) {
        const rec_plan_line *line = tool_plan_line(p->plan, i);
        if (line->action == action && rec_tensor_at(p->base, line->to)) {
            entries[tensors++] = (entry){.path = line->to, .dtype = ""};
        }
    }
    folds = tool_folds_make(entries, (size_t)tensors, WIDTH - LEFT, false, &lines, NULL);
    for (; shown < lines && (shown == 0 || t.length + strlen(folds[shown].key) < WIDTH); shown++) {
        tool_text_put(&t, shown ? ", " : "");
        tool_text_name(&t, folds[shown].key);
        told += folds[shown].repeats * folds[shown].names;
    }
    if (told < tensors) {
        tool_text_format(&t, " and %s more", tool_grouped(tensors - told, number));
    }
    fprintf(out, "%s%s of the base %s%s%s\n", indent, tool_grouped(tensors, number), word, tensors ? ": " : "",
            tensors ? t.at : "");
    tool_text_free(&t);
    tool_folds_free(folds, lines);
    free(entries);
}

void tool_plan_base(const planned *p, const char *indent, FILE *out)
{
    if (p->base) {
        print_base_names(p, "replaced", REC_PLAN_MAPPED, indent, out);
        print_base_names(p, "kept", REC_PLAN_KEPT, indent, out);
    }
}

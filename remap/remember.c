/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What an import leaves in its record for the way back (lr_memory in remap/plan/plan.h): rules and numbers, the numbers
 * that lists gave up, levels of variants, which weights were transposed, which keys the file had. */
#include <stdio.h>
#include <stdlib.h>

#include "common/names.h"
#include "remap/forward/forward.h"
#include "remap/remap.h"

typedef struct writer {
    rec_job *job;
    char *at;
    size_t used;
    uint64_t room;
    bool split; /* a text has an end of line: nothing is left then */
} writer;

static int32_t put(writer *w, const char *text, size_t length)
{
    if (!lr_job_grow(w->job, &w->at, w->used + length + 1, &w->room, 1)) {
        return w->job->error.status;
    }
    w->split = w->split || memchr(text, '\n', length);
    memcpy(w->at + w->used, text, length);
    w->used += length;
    return REC_OK;
}

static int32_t end_line(writer *w)
{
    bool split = w->split;
    int32_t status = put(w, "\n", 1);
    w->split = split;
    return status;
}

static int32_t line(writer *w, const char *word, const char *value, size_t length)
{
    int32_t status = put(w, word, strlen(word));
    status = status == REC_OK ? put(w, " ", 1) : status;
    status = status == REC_OK ? put(w, value, length) : status;
    return status == REC_OK ? end_line(w) : status;
}

/* ------------------------------------------------------------------------------------------- rules and numbers -- */

/* Whether the way back needs a rule of that kind. */
static bool is_needed(int32_t kind)
{
    return kind != LR_RULE_REQUIRE && kind != LR_RULE_VARIANT && kind != LR_RULE_MERGE;
}

static int32_t put_rules(writer *w, const lr_plan_source *source)
{
    const lr_rules *rules = source->rules;
    int32_t status = REC_OK;
    if (source->adapter == LR_ADAPTER_NONE) {
        status = source->foreign ? line(w, "adapter", "foreign", 7) : line(w, "adapter", "none", 4);
    }
    if (status == REC_OK && rules->select) {
        status = line(w, "select", rules->select, strlen(rules->select));
    }
    if (status == REC_OK && source->prefix && *source->prefix) {
        status = line(w, "prefix", source->prefix, strlen(source->prefix));
    }
    for (uint64_t i = 0; i < rules->let_count && status == REC_OK; i++) {
        status = line(w, "let", rules->lets[i].text, strlen(rules->lets[i].text));
    }
    for (uint64_t i = 0; i < rules->count && status == REC_OK; i++) {
        const lr_rule *rule = &rules->rules[i];
        status = is_needed(rule->kind) ? line(w, lr_word_name(rule->kind), rule->text, strlen(rule->text)) : REC_OK;
    }
    return status;
}

/* Whether some rule or let may ask for a number; whether a head is tied is asked without one. */
static bool is_named(const lr_rules *rules, const char *name)
{
    bool named = strcmp(name, LR_NUMBER_TIED) == 0 || strcmp(name, LR_NUMBER_NORM_FIRST) == 0;
    for (uint64_t i = 0; i < rules->let_count && !named; i++) {
        named = strstr(rules->lets[i].text, name) != NULL;
    }
    for (uint64_t i = 0; i < rules->count && !named; i++) {
        named = strstr(rules->rules[i].text, name) != NULL;
    }
    return named;
}

/* Numbers that rules may ask for; more than these are no model's configuration. */
static int32_t put_numbers(writer *w, const lr_rules *rules, const lr_number *numbers, uint64_t count)
{
    enum { MOST = 1000 };
    int32_t status = REC_OK;
    for (uint64_t i = 0; i < count && i < MOST && status == REC_OK; i++) {
        size_t length = strlen(numbers[i].name);
        char text[400];
        if (!is_named(rules, numbers[i].name) || length > LR_NAME_MOST ||
            lr_number_name(numbers[i].name, length) != length) {
            continue; /* no rule can ask for it */
        }
        (void)snprintf(text, sizeof text, "%.256s=%.17g", numbers[i].name, numbers[i].value);
        status = line(w, "number", text, strlen(text));
    }
    return status;
}

/* The bytes of a key that `select` takes away. */
static size_t selected(const lr_plan_source *source, const lr_key *key)
{
    const char *select = source->rules->select;
    size_t length = select ? strlen(select) : 0;
    return length && length < key->length && strncmp(key->text, select, length) == 0 && key->text[length] == '.'
               ? length + 1
               : 0;
}

/* The pattern of a path in which numbers stand for any. @return false: there is not room for it. */
static bool fold_pattern(const char *path, size_t length, char *pattern, size_t room)
{
    const char *end = path + length;
    size_t used = 0;
    pattern[0] = '\0';
    for (const char *part = path; part && length;) {
        const char *dot = lr_path_dot(part, end);
        size_t size = (size_t)((dot ? dot : end) - part);
        bool digits = lr_memory_is_digits(part, size);
        if (used + 10 >= room || !(digits || lr_regex_quote(part, size, pattern + used, room - used - 10))) {
            return false;
        }
        memcpy(pattern + used, "[0-9]+", digits ? sizeof "[0-9]+" : 0);
        used += strlen(pattern + used);
        memcpy(pattern + used, "\\.", dot ? sizeof "\\." : 0);
        used += dot ? 2 : 0;
        part = dot ? dot + 1 : NULL;
    }
    return true;
}

/* A weight that was made of a length and a direction. */
typedef struct normed {
    char rule[1000], weight[1000]; /* a rule for it, and its key, "" unless the file had the later spelling */
} normed;

/* @param fold numbers in the rule's pattern match any number. @return false: not found. */
static bool find_norm(const lr_plan_source *source, const lr_piece *piece, bool fold, normed *found)
{
    const lr_key *key = piece->input_count == 2 ? lr_piece_inputs(piece)[1] : NULL;
    size_t head = key ? selected(source, key) : 0, base, length;
    const char *own = key ? key->text + head : "", *name;
    char pattern[900];
    bool parametrized;
    int n = 0;
    if (piece->dead || !key || !strstr(piece->operations, "weight_norm") ||
        !lr_is_direction(own, key->length - head, &base, &name, &length, &parametrized) ||
        !(fold ? fold_pattern(own, base, pattern, sizeof pattern)
               : lr_regex_quote(own, base, pattern, sizeof pattern))) {
        return false;
    }
    if (parametrized) {
        n = snprintf(found->weight, sizeof found->weight, "%.*s%s%.*s", (int)base, own, base ? "." : "", (int)length,
                     name);
    } else {
        found->weight[0] = '\0';
    }
    return n >= 0 && (size_t)n < sizeof found->weight &&
           lr_norm_rule(pattern, rec_value_tensor(lr_piece_inputs(piece)[0]->value), rec_value_tensor(key->value),
                        found->rule, sizeof found->rule);
}

/* A rule for a weight of weight_norm, and the weight if the file had the later spelling. Those of a rule are left, too:
 * the way back may have other rules. */
static int32_t put_norm(writer *w, const lr_plan_source *source, const lr_piece *piece)
{
    normed found;
    int32_t status = REC_OK;
    if (find_norm(source, piece, false, &found)) {
        status = line(w, "normed", found.rule, strlen(found.rule));
        if (status == REC_OK && found.weight[0]) {
            status = line(w, "parametrized", found.weight, strlen(found.weight));
        }
    }
    return status;
}

/* What recognition did that no record shows. */
static int32_t put_recognised(writer *w, const rec_plan *plan)
{
    int32_t status = REC_OK;
    for (const lr_piece *piece = plan->pieces; piece && status == REC_OK; piece = piece->next) {
        status = put_norm(w, &plan->sources[0], piece);
    }
    for (uint64_t i = 0; i < plan->module_count && status == REC_OK; i++) {
        const lr_shown *shown = &plan->modules[i];
        status = strcmp(shown->module, "MultiHeadAttention") == 0
                     ? line(w, "attention", *shown->path ? shown->path : ".", *shown->path ? strlen(shown->path) : 1)
                     : REC_OK;
    }
    return status;
}

/* Which metadata are numbers: formats that keep texts alone make texts of them. */
static int32_t put_kinds(writer *w, const lr_map *metadata)
{
    static const struct {
        int32_t kind;
        char letter;
    } kinds[] = {{REC_KIND_UINT, 'u'}, {REC_KIND_INT, 'i'}, {REC_KIND_FLOAT, 'f'}, {REC_KIND_BOOL, 'b'}};
    int32_t status = REC_OK;
    for (uint64_t i = 0; i < metadata->count && status == REC_OK; i++) {
        const lr_entry *entry = &metadata->entries[i];
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            char word[32];
            if (entry->value.kind == kinds[k].kind) {
                (void)snprintf(word, sizeof word, "kind %c%u", kinds[k].letter, (unsigned)entry->value.bits);
                status = line(w, word, entry->key.v.text, entry->key.length);
            }
        }
    }
    return status;
}

/* ------------------------------------------------------------------------------------------------------ places -- */

/* A set of texts, for lists that are sorted and have each text once. */
typedef struct texts {
    char **at;
    uint64_t count, room;
} texts;

static int32_t add_text(rec_job *job, lr_arena *arena, texts *t, const char *text, uint64_t length, bool fold)
{
    char *copy;
    if (!lr_job_grow(job, &t->at, t->count + 1, &t->room, sizeof *t->at)) {
        return job->error.status;
    }
    copy = lr_arena_alloc(arena, length + 1, 1);
    if (!copy) {
        return lr_fail_memory(job, length);
    }
    if (fold) {
        (void)lr_memory_fold(text, length, copy);
    } else {
        memcpy(copy, text, (size_t)length);
        copy[length] = '\0';
    }
    if (t->count && strcmp(t->at[t->count - 1], copy) == 0) {
        return REC_OK; /* neighbours are alike */
    }
    t->at[t->count++] = copy;
    return REC_OK;
}

static void sort(texts *t)
{
    uint64_t kept = 0;
    if (t->count) {
        qsort(t->at, (size_t)t->count, sizeof *t->at, lr_by_text);
    }
    for (uint64_t i = 0; i < t->count; i++) {
        if (kept == 0 || strcmp(t->at[kept - 1], t->at[i]) != 0) {
            t->at[kept++] = t->at[i];
        }
    }
    t->count = kept;
}

static bool has(const texts *t, const char *text)
{
    return t->count && bsearch(&text, t->at, (size_t)t->count, sizeof *t->at, lr_by_text);
}

typedef struct places {
    texts moved, levels, cells, keys, dropped;
    texts linear, plain; /* weights of rank 2, with indices folded: transposed, or unchanged */
    texts exact;         /* those transposed whose folded key is also that of one that was not */
} places;

static bool is_number(const char *text, uint64_t length)
{
    return length <= LR_MEMORY_DIGITS && lr_memory_is_digits(text, length);
}

/* Compares the parts of a place with those of the key before gaps were closed and variants were found. */
static int32_t compare(rec_job *job, lr_arena *arena, places *p, const char *to, const char *key)
{
    const char *to_end = to + strlen(to), *key_end = key + strlen(key), *a = to, *b = key;
    int32_t status = REC_OK;
    while (a && b && status == REC_OK) {
        const char *a_dot = lr_path_dot(a, to_end), *b_dot = lr_path_dot(b, key_end);
        uint64_t a_size = (uint64_t)((a_dot ? a_dot : to_end) - a), b_size = (uint64_t)((b_dot ? b_dot : key_end) - b);
        bool same = a_size == b_size && memcmp(a, b, (size_t)a_size) == 0;
        if (!same && is_number(a, a_size) && is_number(b, b_size)) {
            char text[4200];
            int n = snprintf(text, sizeof text, "%.*s %.*s", (int)(a + a_size - to), to, (int)b_size, b);
            same = n > 0 && (size_t)n < sizeof text;
            status = same ? add_text(job, arena, &p->moved, text, (uint64_t)n, false) : REC_OK;
        } else if (!same && a_dot) { /* a level that the key has not */
            status = add_text(job, arena, &p->levels, to, (uint64_t)(a + a_size - to), false);
            a = a_dot + 1;
            continue;
        }
        a = a_dot ? a_dot + 1 : NULL;
        b = b_dot ? b_dot + 1 : NULL;
    }
    return status;
}

/* Whether a key is that of a cell's tensor, nn.LSTMCell's or its like's, which became gates. */
static bool is_of_cell(const lr_key *key, const lr_piece *piece)
{
    static const char *const names[] = {"weight_ih", "weight_hh", "bias_ih", "bias_hh"};
    const char *last = lr_path_last(key->text, (size_t)key->length);
    for (size_t i = 0; i < sizeof names / sizeof *names && strstr(piece->key, "_transform."); i++) {
        if (strcmp(last, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* @param transposed the tensor was. */
static int32_t note_weight(rec_job *job, lr_arena *arena, places *p, const char *to, bool transposed)
{
    uint64_t length = strlen(to);
    return add_text(job, arena, transposed ? &p->linear : &p->plain, to, length, true);
}

/* Records a line. Stacked and joined tensors are recorded by their rules. */
static int32_t note_line(rec_job *job, const rec_plan *plan, const lr_line *from, lr_arena *arena, places *p)
{
    const lr_piece *piece = from->piece;
    const lr_said *said = &plan->said[from->said];
    const char *to = from->to ? plan->places[from->to - 1] : piece ? piece->key : "";
    const lr_plan_source *source = &plan->sources[0];
    const char *field;
    int32_t status = REC_OK;
    if (!piece || said->action != REC_PLAN_MAPPED || piece->kept || !from->tensor) {
        return REC_OK;
    }
    if (strcmp(to, piece->key) != 0) {
        status = compare(job, arena, p, to, piece->key);
    }
    field = lr_path_last(to, strlen(to));
    if (status == REC_OK && from->tensor->rank == 2 && strcmp(field, "weight") == 0 && !piece->adapted) {
        status = note_weight(job, arena, p, to, strstr(said->operations, "transpose") != NULL);
    }
    for (uint32_t i = 0; i < piece->input_count && status == REC_OK; i++) {
        const lr_key *key = lr_piece_inputs(piece)[i];
        status = is_of_cell(key, piece) ? add_text(job, arena, &p->cells, key->text, key->length, true) : REC_OK;
        if (status != REC_OK || !source->rules->count) {
            continue;
        }
        status = add_text(job, arena, &p->keys, key->text, key->length, true);
    }
    return status;
}

/* A folded key that stands for weights of both kinds says nothing: those transposed are listed by themselves. */
static int32_t part(rec_job *job, const rec_plan *plan, lr_arena *arena, places *p)
{
    int32_t status = REC_OK;
    bool both = false;
    sort(&p->linear);
    sort(&p->plain);
    for (uint64_t i = 0; i < p->linear.count; i++) {
        both = both || has(&p->plain, p->linear.at[i]);
    }
    for (uint64_t i = 0; both && i < plan->line_count && status == REC_OK; i++) {
        const lr_line *from = &plan->lines[i];
        const lr_said *said = &plan->said[from->said];
        if (from->piece && from->tensor && from->tensor->rank == 2 && said->action == REC_PLAN_MAPPED &&
            strstr(said->operations, "transpose")) {
            const char *to = from->to ? plan->places[from->to - 1] : from->piece->key;
            status = add_text(job, arena, &p->exact, to, strlen(to), false);
        }
    }
    sort(&p->exact);
    return status;
}

static int32_t put_texts(writer *w, const char *word, const texts *t)
{
    int32_t status = REC_OK;
    for (uint64_t i = 0; i < t->count && status == REC_OK; i++) {
        status = line(w, word, t->at[i], strlen(t->at[i]));
    }
    return status;
}

/* ----------------------------------------------------------------------------------------- options, for people -- */

/* ` --OPTION 'VALUE'`, quoted for a shell. */
static int32_t option(writer *w, const char *name, const char *value)
{
    bool plain = value[strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./=")] == '\0';
    int32_t status = put(w, " --", 3);
    status = status == REC_OK ? put(w, name, strlen(name)) : status;
    status = status == REC_OK ? put(w, plain ? " " : " '", plain ? 1 : 2) : status;
    for (const char *c = value; *c && status == REC_OK; c++) {
        status = *c == '\'' ? put(w, "'\\''", 4) : put(w, c, 1);
    }
    return status == REC_OK && !plain ? put(w, "'", 1) : status;
}

static int32_t rule_option(writer *w, const lr_rule *rule)
{
    char text[4200];
    int n = snprintf(text, sizeof text, "%s = %s", lr_word_name(rule->kind), rule->text);
    return n > 0 && (size_t)n < sizeof text ? option(w, "rule", text) : REC_OK;
}

static int32_t number_options(writer *w, const lr_number *numbers, uint64_t count)
{
    int32_t status = REC_OK;
    for (uint64_t i = 0; i < count && status == REC_OK; i++) {
        char text[400];
        (void)snprintf(text, sizeof text, "%.256s=%.17g", numbers[i].name, numbers[i].value);
        status = numbers[i].used ? option(w, "set", text) : REC_OK;
    }
    return status;
}

/* The deeper place and the higher number first, so that no number is taken twice. */
static int by_place(const void *a, const void *b)
{
    const char *x = *(char *const *)a, *y = *(char *const *)b;
    while (*x && *y) {
        uint64_t m = strspn(x, "0123456789"), n = strspn(y, "0123456789");
        if (m && n && (m != n || memcmp(x, y, (size_t)m) != 0)) {
            return m != n ? (m < n ? 1 : -1) : -memcmp(x, y, (size_t)m);
        }
        if (*x != *y) {
            return *x < *y ? 1 : -1;
        }
        x++;
        y++;
    }
    return *x ? -1 : *y ? 1 : 0;
}

/* Back rules that give lists their numbers again. */
static int32_t gap_options(writer *w, const texts *moved)
{
    enum { MOST = 12 };
    int32_t status = moved->count ? option(w, "gaps", "keep") : REC_OK;
    if (moved->count) {
        qsort(moved->at, (size_t)moved->count, sizeof *moved->at, by_place);
    }
    for (uint64_t i = 0; i < moved->count && i < MOST && status == REC_OK; i++) {
        const char *to = moved->at[i], *blank = strrchr(to, ' ');
        const char *last = lr_path_last(to, (uint64_t)(blank - to));
        char pattern[600], text[1400];
        size_t used = 0;
        for (const char *c = to; c < blank && used + 3 < sizeof pattern; c++) {
            if (strchr(".\\+*?()|[]{}^$#&~-", *c)) {
                pattern[used++] = '\\';
            }
            pattern[used++] = *c;
        }
        pattern[used] = '\0';
        (void)snprintf(text, sizeof text, "back = ^%s\\. => %.*s%s.", pattern, (int)(last - to), to, blank + 1);
        status = option(w, "rule", text);
    }
    return status == REC_OK && moved->count > MOST ? put(w, " …", strlen(" …")) : status;
}

/* How many texts begin so. */
static uint64_t count_begun(const texts *t, const char *begin)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i < t->count; i++) {
        count += strncmp(t->at[i], begin, strlen(begin)) == 0;
    }
    return count;
}

/* Whether rules that match any index differ in their axes alone, or match a weight without weight_norm. */
static bool is_mixed(const rec_plan *plan, const texts *folded)
{
    for (uint64_t i = 0; i < folded->count; i++) {
        char begin[1000];
        (void)snprintf(begin, sizeof begin, "%.*s", (int)strcspn(folded->at[i], " "), folded->at[i]);
        if (count_begun(folded, begin) > 1) {
            return true;
        }
    }
    for (const lr_piece *piece = plan->pieces; piece; piece = piece->next) {
        const char *last = lr_path_last(piece->key, (size_t)piece->length);
        char pattern[900], rule[1000];
        normed found;
        if (!piece->dead && strcmp(last, "weight") == 0 && last > piece->key &&
            !find_norm(&plan->sources[0], piece, true, &found) &&
            fold_pattern(piece->key, (size_t)(last - piece->key) - 1, pattern, sizeof pattern)) {
            (void)snprintf(rule, sizeof rule, "^%s$", pattern);
            if (count_begun(folded, rule)) {
                return true;
            }
        }
    }
    return false;
}

/* Rules for the weights of weight_norm that recognition found, or whose axis no rule has. */
static int32_t norm_options(writer *w, const rec_plan *plan, lr_arena *arena)
{
    enum { MOST = 12 };
    texts folded = {0}, exact = {0}, *all;
    int32_t status = REC_OK;
    normed found;
    for (const lr_piece *piece = plan->pieces; piece && status == REC_OK; piece = piece->next) {
        bool by_rule = *piece->why != '\0';
        if (find_norm(&plan->sources[0], piece, true, &found) && !(by_rule && !strstr(found.rule, " | "))) {
            status = add_text(w->job, arena, &folded, found.rule, strlen(found.rule), false);
            status = status == REC_OK && find_norm(&plan->sources[0], piece, false, &found)
                         ? add_text(w->job, arena, &exact, found.rule, strlen(found.rule), false)
                         : status;
        }
    }
    sort(&folded);
    all = folded.count && is_mixed(plan, &folded) ? &exact : &folded;
    for (uint64_t i = 0; i < all->count && i < MOST && status == REC_OK; i++) {
        char rule[1100];
        (void)snprintf(rule, sizeof rule, "weight_norm = %s", all->at[i]);
        status = option(w, "rule", rule);
    }
    status = status == REC_OK && all->count > MOST ? put(w, " …", strlen(" …")) : status;
    lr_release(w->job->allocator, folded.at);
    lr_release(w->job->allocator, exact.at);
    return status;
}

/* Writes what a reverse conversion needs in addition to the type. The metadata of a `.bin` cannot hold the rest: the
 * save notes it. */
static int32_t put_options(writer *w, const rec_plan *plan, const texts *moved, lr_arena *arena)
{
    const lr_plan_source *source = &plan->sources[0];
    const lr_rules *rules = source->rules;
    size_t begin = w->used, after;
    int32_t status = put(w, "options", strlen("options"));
    after = w->used;
    if (status == REC_OK && source->adapter == LR_ADAPTER_NONE) {
        status = option(w, "adapter", source->foreign ? "foreign" : "none");
    }
    if (status == REC_OK && rules->name) {
        status = option(w, "profile", rules->name);
    }
    if (status == REC_OK && rules->select) {
        status = option(w, "select", rules->select);
    }
    if (status == REC_OK && source->prefix && *source->prefix) {
        status = option(w, "prefix", source->prefix);
    }
    for (uint64_t i = 0; i < rules->count && status == REC_OK; i++) {
        const lr_rule *rule = &rules->rules[i];
        status = !rule->profile && is_needed(rule->kind) ? rule_option(w, rule) : REC_OK;
    }
    status = status == REC_OK ? number_options(w, source->numbers.set, source->numbers.set_count) : status;
    if (status == REC_OK && source->numbers.config_file && lr_rules_names_variables(rules)) {
        const char *slash = strrchr(source->numbers.config_file, '/'); /* where it stood is nobody's business */
        status = option(w, "config-json", slash ? slash + 1 : source->numbers.config_file);
    }
    status = status == REC_OK ? gap_options(w, moved) : status;
    status = status == REC_OK ? norm_options(w, plan, arena) : status;
    if (status == REC_OK && w->used == after) {
        w->used = begin;
        return REC_OK;
    }
    return status == REC_OK ? end_line(w) : status;
}

/* ------------------------------------------------------------------------------------------------- all places -- */

static int32_t put_places(writer *w, const rec_plan *plan, lr_arena *arena)
{
    places p = {0};
    texts *const all[] = {&p.moved, &p.levels, &p.cells, &p.keys, &p.dropped, &p.linear, &p.plain, &p.exact};
    const char *none = "-";
    int32_t status = REC_OK;
    for (uint64_t i = 0; i < plan->line_count && status == REC_OK; i++) {
        status = note_line(w->job, plan, &plan->lines[i], arena, &p);
    }
    for (uint64_t i = 0; i < plan->lost_count && status == REC_OK; i++) {
        const lr_lost *lost = &plan->lost[i];
        status = rec_value_tensor(lost->key->value)
                     ? add_text(w->job, arena, &p.dropped, lost->key->text, lost->key->length, true)
                     : REC_OK;
    }
    sort(&p.dropped);
    status = status == REC_OK ? part(w->job, plan, arena, &p) : status;
    sort(&p.moved);
    sort(&p.levels);
    sort(&p.cells);
    sort(&p.keys);
    status = status == REC_OK ? put_options(w, plan, &p.moved, arena) : status;
    sort(&p.moved);
    status = status == REC_OK ? put_texts(w, "moved", &p.moved) : status;
    status = status == REC_OK ? put_texts(w, "level", &p.levels) : status;
    status = status == REC_OK ? line(w, "linear", none, 1) : status; /* that others were not transposed is known too */
    status = status == REC_OK ? put_texts(w, "linear", p.exact.count ? &p.exact : &p.linear) : status;
    status = status == REC_OK ? put_texts(w, "cell", &p.cells) : status;
    status = status == REC_OK ? put_texts(w, "key", &p.keys) : status;
    status = status == REC_OK ? put_texts(w, "dropped", &p.dropped) : status;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        lr_release(w->job->allocator, all[i]->at);
    }
    return status;
}

/* -------------------------------------------------------------------------------------------------------- all -- */

/* Whether there is a way back, by one source's rules alone. */
static bool is_import(const rec_plan *plan)
{
    const lr_plan_source *source = &plan->sources[0];
    bool foreign = source->record->root.form == REC_FORM_PATHS || source->adapter == LR_ADAPTER_PYTORCH ||
                   (source->foreign && source->rules->count);
    return plan->source_count == 1 && foreign && !source->reverse && !plan->base && !plan->foreign && !plan->trial;
}

int32_t lr_plan_remember(rec_job *job, rec_plan *plan)
{
    rec_record *record = plan->result;
    const lr_plan_source *source = &plan->sources[0];
    writer w = {.job = job};
    lr_arena arena;
    rec_value key, value;
    lr_entry *entry;
    int32_t status;
    if (!is_import(plan) || lr_map_find_text(&record->metadata, LR_MEMORY_KEY, strlen(LR_MEMORY_KEY))) {
        return REC_OK;
    }
    lr_arena_init(&arena, job->allocator);
    status = put(&w, LR_MEMORY_HEAD, strlen(LR_MEMORY_HEAD));
    w.split = false;
    status = status == REC_OK ? put_rules(&w, source) : status;
    if (status == REC_OK) {
        status = put_numbers(&w, source->rules, source->numbers.own, source->numbers.own_count);
        status = status == REC_OK ? put_numbers(&w, source->rules, source->numbers.config, source->numbers.config_count)
                                  : status;
        status =
            status == REC_OK ? put_numbers(&w, source->rules, source->numbers.set, source->numbers.set_count) : status;
    }
    status = status == REC_OK ? put_recognised(&w, plan) : status;
    status = status == REC_OK ? put_kinds(&w, &record->metadata) : status;
    status = status == REC_OK ? put_places(&w, plan, &arena) : status;
    lr_arena_free(&arena);
    if (status == REC_OK && !w.split) {
        entry = lr_string(&record->arena, LR_MEMORY_KEY, strlen(LR_MEMORY_KEY), &key) &&
                        lr_string(&record->arena, w.at, w.used, &value)
                    ? lr_map_append(&record->arena, &record->metadata, key)
                    : NULL;
        if (entry) {
            entry->value = value;
        } else {
            status = lr_fail_memory(job, w.used);
        }
    }
    lr_release(job->allocator, w.at);
    return status;
}

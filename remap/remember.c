/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What an import leaves in its record for the way back (lr_memory in remap/plan/plan.h): rules and numbers, the numbers
 * that lists gave up, levels of variants, which weights were transposed, which keys the file had. */
#include <stdio.h>
#include <stdlib.h>

#include "remap/forward/forward.h"
#include "remap/remap.h"

/* A failure is the job's: nothing is written after one. */
typedef struct writer {
    rec_job *job;
    lr_arena arena; /* of texts on their way */
    char *at;
    size_t used;
    uint64_t room;
    bool split; /* a text has an end of line: nothing is left then */
} writer;

static void put(writer *w, const char *text, size_t length)
{
    if (!lr_job_failed(w->job) && lr_job_grow(w->job, &w->at, w->used + length + 1, &w->room, 1)) {
        w->split = w->split || memchr(text, '\n', length);
        memcpy(w->at + w->used, text, length);
        w->used += length;
    }
}

static void put_text(writer *w, const char *text)
{
    put(w, text, strlen(text));
}

static void end_line(writer *w)
{
    bool split = w->split;
    put(w, "\n", 1);
    w->split = split;
}

static void line(writer *w, const char *word, const char *value)
{
    put_text(w, word);
    put(w, " ", 1);
    put_text(w, value);
    end_line(w);
}

/* ------------------------------------------------------------------------------------------- rules and numbers -- */

/* Whether the way back needs a rule of that kind. */
static bool is_needed(int32_t kind)
{
    return kind != LR_RULE_REQUIRE && kind != LR_RULE_VARIANT && kind != LR_RULE_MERGE;
}

/* The name of an adapter that changes nothing, which is not the default. NULL: it is another. */
static const char *plain_adapter(const lr_plan_source *source)
{
    return source->adapter != LR_ADAPTER_NONE ? NULL : source->foreign ? "foreign" : "none";
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

static void number_text(const lr_number *number, char text[400])
{
    (void)snprintf(text, 400, "%.256s=%.17g", number->name, number->value);
}

/* Numbers that rules may ask for; more than these are no model's configuration. */
static void put_numbers(writer *w, const lr_rules *rules, const lr_number *numbers, uint64_t count)
{
    enum { MOST = 1000 };
    for (uint64_t i = 0; i < count && i < MOST; i++) {
        size_t length = strlen(numbers[i].name);
        char text[400];
        if (is_named(rules, numbers[i].name) && length <= LR_NAME_MOST &&
            lr_number_name(numbers[i].name, length) == length) { /* or no rule can ask for it */
            number_text(&numbers[i], text);
            line(w, "number", text);
        }
    }
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
    size_t own_length = key ? key->length : 0, base, length;
    const char *own = key ? key->text : "", *name;
    char pattern[900];
    bool parametrized;
    int n = 0;
    (void)(key && lr_key_below(source->rules->select, &own, &own_length));
    if (piece->dead || !key || !strstr(piece->operations, "weight_norm") ||
        !lr_is_direction(own, own_length, &base, &name, &length, &parametrized) ||
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

/* What recognition did that no record shows. Weights of weight_norm that a rule made are left, too: the way back may
 * have other rules. */
static void put_recognised(writer *w, const rec_plan *plan)
{
    for (const lr_piece *piece = plan->pieces; piece; piece = piece->next) {
        normed found;
        if (find_norm(&plan->sources[0], piece, false, &found)) {
            line(w, "normed", found.rule);
            if (found.weight[0]) {
                line(w, "parametrized", found.weight);
            }
        }
    }
    for (uint64_t i = 0; i < plan->modules.count; i++) {
        const lr_memory_entry *shown = &plan->modules.at[i];
        if (strcmp(shown->value, "MultiHeadAttention") == 0) {
            line(w, "attention", *shown->text ? shown->text : ".");
        }
    }
}

/* Which metadata are numbers: formats that keep texts alone make texts of them. */
static void put_kinds(writer *w, const lr_map *metadata)
{
    for (uint64_t i = 0; i < metadata->count; i++) {
        const lr_entry *entry = &metadata->entries[i];
        int32_t kind = entry->value.kind;
        char word[32], letter = kind == REC_KIND_UINT    ? 'u'
                                : kind == REC_KIND_INT   ? 'i'
                                : kind == REC_KIND_FLOAT ? 'f'
                                : kind == REC_KIND_BOOL  ? 'b'
                                                         : 0;
        if (letter) {
            (void)snprintf(word, sizeof word, "kind %c%u ", letter, (unsigned)entry->value.bits);
            put_text(w, word);
            put(w, entry->key.v.text, entry->key.length);
            end_line(w);
        }
    }
}

/* ------------------------------------------------------------------------------------------------------ places -- */

/* Adds a text to a list that is sorted later. */
static void add_text(writer *w, lr_memory_list *t, const char *text, uint64_t length, bool fold)
{
    char *copy = lr_job_failed(w->job) ? NULL : lr_job_arena_text(w->job, &w->arena, text, length);
    if (copy && fold) {
        (void)lr_memory_fold(copy, length, copy);
    }
    if (copy && !(t->count && strcmp(t->at[t->count - 1].text, copy) == 0)) { /* neighbours are alike */
        (void)lr_memory_add(w->job, t, copy, NULL);
    }
}

/* Sorts a list, and leaves each text once. */
static void sort(lr_memory_list *t)
{
    uint64_t kept = 0;
    lr_memory_sort(t);
    for (uint64_t i = 0; i < t->count; i++) {
        if (kept == 0 || strcmp(t->at[kept - 1].text, t->at[i].text) != 0) {
            t->at[kept++] = t->at[i];
        }
    }
    t->count = kept;
}

typedef struct places {
    lr_memory_list moved, levels, cells, keys, dropped;
    lr_memory_list linear, plain; /* weights of rank 2, with indices folded: transposed, or unchanged */
    lr_memory_list exact;         /* those transposed whose folded key is also that of one that was not */
} places;

static bool is_number(const char *text, uint64_t length)
{
    return length <= LR_MEMORY_DIGITS && lr_memory_is_digits(text, length);
}

/* Compares the parts of a place with those of the key before gaps were closed and variants were found. */
static void compare(writer *w, places *p, const char *to, const char *key)
{
    const char *to_end = to + strlen(to), *key_end = key + strlen(key), *a = to, *b = key;
    while (a && b) {
        const char *a_dot = lr_path_dot(a, to_end), *b_dot = lr_path_dot(b, key_end);
        uint64_t a_size = (uint64_t)((a_dot ? a_dot : to_end) - a), b_size = (uint64_t)((b_dot ? b_dot : key_end) - b);
        bool same = a_size == b_size && memcmp(a, b, (size_t)a_size) == 0;
        if (!same && is_number(a, a_size) && is_number(b, b_size)) {
            char text[4200];
            int n = snprintf(text, sizeof text, "%.*s %.*s", (int)(a + a_size - to), to, (int)b_size, b);
            if (n > 0 && (size_t)n < sizeof text) {
                add_text(w, &p->moved, text, (uint64_t)n, false);
            }
        } else if (!same && a_dot) { /* a level that the key has not */
            add_text(w, &p->levels, to, (uint64_t)(a + a_size - to), false);
            a = a_dot + 1;
            continue;
        }
        a = a_dot ? a_dot + 1 : NULL;
        b = b_dot ? b_dot + 1 : NULL;
    }
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

/* The place of a line, where it maps a piece to a tensor. NULL: it does not. */
static const char *mapped_to(const lr_line *from)
{
    return from->piece && from->tensor && from->action == REC_PLAN_MAPPED ? from->to : NULL;
}

/* Records a line. Stacked and joined tensors are recorded by their rules. */
static void note_line(writer *w, const rec_plan *plan, const lr_line *from, places *p)
{
    const lr_piece *piece = from->piece;
    const char *to = mapped_to(from);
    if (!to || piece->kept) {
        return;
    }
    if (strcmp(to, piece->key) != 0) {
        compare(w, p, to, piece->key);
    }
    if (from->tensor->rank == 2 && strcmp(lr_path_last(to, strlen(to)), "weight") == 0 && !piece->adapted) {
        add_text(w, strstr(from->operations, "transpose") ? &p->linear : &p->plain, to, strlen(to), true);
    }
    for (uint32_t i = 0; i < piece->input_count; i++) {
        const lr_key *key = lr_piece_inputs(piece)[i];
        if (is_of_cell(key, piece)) {
            add_text(w, &p->cells, key->text, key->length, true);
        }
        if (plan->sources[0].rules->count) {
            add_text(w, &p->keys, key->text, key->length, true);
        }
    }
}

/* A folded key that stands for weights of both kinds says nothing: those transposed are listed by themselves. */
static void part(writer *w, const rec_plan *plan, places *p)
{
    bool both = false;
    sort(&p->linear);
    sort(&p->plain);
    for (uint64_t i = 0; i < p->linear.count; i++) {
        both = both || lr_memory_find(&p->plain, p->linear.at[i].text, strlen(p->linear.at[i].text));
    }
    for (uint64_t i = 0; both && i < plan->line_count; i++) {
        const lr_line *from = &plan->lines[i];
        const char *to = mapped_to(from);
        if (to && from->tensor->rank == 2 && strstr(from->operations, "transpose")) {
            add_text(w, &p->exact, to, strlen(to), false);
        }
    }
    sort(&p->exact);
}

static void put_texts(writer *w, const char *word, const lr_memory_list *t)
{
    for (uint64_t i = 0; i < t->count; i++) {
        line(w, word, t->at[i].text);
    }
}

/* ----------------------------------------------------------------------------------------- options, for people -- */

/* ` --OPTION 'VALUE'`, quoted for a shell. */
static void option(writer *w, const char *name, const char *value)
{
    bool plain = value[strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./=")] == '\0';
    put(w, " --", 3);
    put_text(w, name);
    put_text(w, plain ? " " : " '");
    for (const char *c = value; *c; c++) {
        put_text(w, *c == '\'' ? "'\\''" : (char[]){*c, '\0'});
    }
    put_text(w, plain ? "" : "'");
}

/* ` --rule 'WORD = TEXT'` */
static void rule_option(writer *w, const char *word, const char *rule)
{
    char text[4200];
    int n = snprintf(text, sizeof text, "%s = %s", word, rule);
    if (n > 0 && (size_t)n < sizeof text) {
        option(w, "rule", text);
    }
}

/* What a source's rules are, as lines or as options: those name the profile instead of its rules. */
static void put_rules(writer *w, const lr_plan_source *source, bool options)
{
    const lr_rules *rules = source->rules;
    void (*put_setting)(writer *, const char *, const char *) = options ? option : line;
    if (plain_adapter(source)) {
        put_setting(w, "adapter", plain_adapter(source));
    }
    if (options && rules->name) {
        option(w, "profile", rules->name);
    }
    if (rules->select) {
        put_setting(w, "select", rules->select);
    }
    if (source->prefix && *source->prefix) {
        put_setting(w, "prefix", source->prefix);
    }
    for (uint64_t i = 0; i < rules->let_count && !options; i++) {
        line(w, "let", rules->lets[i].text);
    }
    for (uint64_t i = 0; i < rules->count; i++) {
        const lr_rule *rule = &rules->rules[i];
        if (is_needed(rule->kind) && !(options && rule->profile)) {
            (options ? rule_option : line)(w, lr_word_name(rule->kind), rule->text);
        }
    }
}

/* The deeper place and the higher number first, so that no number is taken twice. */
static int by_place(const void *a, const void *b)
{
    const char *x = ((const lr_memory_entry *)a)->text, *y = ((const lr_memory_entry *)b)->text;
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

enum { OPTIONS_MOST = 12 };

/* More options than these are left out. */
static void end_options(writer *w, const lr_memory_list *t)
{
    put_text(w, t->count > OPTIONS_MOST ? " …" : "");
}

/* Back rules that give lists their numbers again. */
static void gap_options(writer *w, const lr_memory_list *moved)
{
    if (moved->count) {
        option(w, "gaps", "keep");
        qsort(moved->at, (size_t)moved->count, sizeof *moved->at, by_place);
    }
    for (uint64_t i = 0; i < moved->count && i < OPTIONS_MOST; i++) {
        const char *to = moved->at[i].text, *blank = strrchr(to, ' ');
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
        (void)snprintf(text, sizeof text, "^%s\\. => %.*s%s.", pattern, (int)(last - to), to, blank + 1);
        rule_option(w, "back", text);
    }
    end_options(w, moved);
}

/* How many texts begin so. */
static uint64_t count_begun(const lr_memory_list *t, const char *begin)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i < t->count; i++) {
        count += strncmp(t->at[i].text, begin, strlen(begin)) == 0;
    }
    return count;
}

/* Whether rules that match any index differ in their axes alone, or match a weight without weight_norm. */
static bool is_mixed(const rec_plan *plan, const lr_memory_list *folded)
{
    for (uint64_t i = 0; i < folded->count; i++) {
        char begin[1000];
        (void)snprintf(begin, sizeof begin, "%.*s", (int)strcspn(folded->at[i].text, " "), folded->at[i].text);
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
static void norm_options(writer *w, const rec_plan *plan)
{
    lr_memory_list folded = {0}, exact = {0}, *all;
    normed found;
    for (const lr_piece *piece = plan->pieces; piece; piece = piece->next) {
        bool by_rule = *piece->why != '\0';
        if (find_norm(&plan->sources[0], piece, true, &found) && !(by_rule && !strstr(found.rule, " | "))) {
            add_text(w, &folded, found.rule, strlen(found.rule), false);
            if (find_norm(&plan->sources[0], piece, false, &found)) {
                add_text(w, &exact, found.rule, strlen(found.rule), false);
            }
        }
    }
    sort(&folded);
    all = folded.count && is_mixed(plan, &folded) ? &exact : &folded;
    for (uint64_t i = 0; i < all->count && i < OPTIONS_MOST; i++) {
        rule_option(w, "weight_norm", all->at[i].text);
    }
    end_options(w, all);
    lr_release(w->job->allocator, folded.at);
    lr_release(w->job->allocator, exact.at);
}

/* Writes what a reverse conversion needs in addition to the type. The metadata of a `.bin` cannot hold the rest: the
 * save notes it. */
static void put_options(writer *w, const rec_plan *plan, const lr_memory_list *moved)
{
    const lr_plan_source *source = &plan->sources[0];
    size_t begin = w->used, after;
    put_text(w, "options");
    after = w->used;
    put_rules(w, source, true);
    for (uint64_t i = 0; i < source->numbers.set_count; i++) {
        char text[400];
        if (source->numbers.set[i].used) {
            number_text(&source->numbers.set[i], text);
            option(w, "set", text);
        }
    }
    if (source->numbers.config_file && lr_rules_names_variables(source->rules)) {
        const char *slash = strrchr(source->numbers.config_file, '/'); /* where it stood is nobody's business */
        option(w, "config-json", slash ? slash + 1 : source->numbers.config_file);
    }
    gap_options(w, moved);
    norm_options(w, plan);
    if (w->used == after) {
        w->used = begin;
    } else {
        end_line(w);
    }
}

/* ------------------------------------------------------------------------------------------------- all places -- */

static void put_places(writer *w, const rec_plan *plan)
{
    places p = {0};
    lr_memory_list *const all[] = {&p.moved, &p.levels, &p.cells, &p.keys, &p.dropped, &p.linear, &p.plain, &p.exact};
    for (uint64_t i = 0; i < plan->line_count && !lr_job_failed(w->job); i++) {
        note_line(w, plan, &plan->lines[i], &p);
    }
    for (uint64_t i = 0; i < plan->lost_count; i++) {
        const lr_key *key = plan->lost[i].key;
        if (rec_value_tensor(key->value)) {
            add_text(w, &p.dropped, key->text, key->length, true);
        }
    }
    part(w, plan, &p);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        sort(all[i]);
    }
    put_options(w, plan, &p.moved);
    sort(&p.moved);
    put_texts(w, "moved", &p.moved);
    put_texts(w, "level", &p.levels);
    line(w, "linear", "-"); /* that others were not transposed is known too */
    put_texts(w, "linear", p.exact.count ? &p.exact : &p.linear);
    put_texts(w, "cell", &p.cells);
    put_texts(w, "key", &p.keys);
    put_texts(w, "dropped", &p.dropped);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        lr_release(w->job->allocator, all[i]->at);
    }
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
    const lr_variables *numbers = &source->numbers;
    writer w = {.job = job};
    rec_value key, value;
    if (!is_import(plan) || lr_map_find_text(&record->metadata, LR_MEMORY_KEY, strlen(LR_MEMORY_KEY))) {
        return REC_OK;
    }
    lr_arena_init(&w.arena, job->allocator);
    put_text(&w, LR_MEMORY_HEAD);
    w.split = false;
    put_rules(&w, source, false);
    put_numbers(&w, source->rules, numbers->own, numbers->own_count);
    put_numbers(&w, source->rules, numbers->config, numbers->config_count);
    put_numbers(&w, source->rules, numbers->set, numbers->set_count);
    put_recognised(&w, plan);
    put_kinds(&w, &record->metadata);
    put_places(&w, plan);
    lr_arena_free(&w.arena);
    if (!lr_job_failed(job) && !w.split) {
        lr_entry *entry = lr_string(&record->arena, LR_MEMORY_KEY, strlen(LR_MEMORY_KEY), &key) &&
                                  lr_string(&record->arena, w.at, w.used, &value)
                              ? lr_map_append(&record->arena, &record->metadata, key)
                              : NULL;
        if (entry) {
            entry->value = value;
        } else {
            (void)lr_fail_memory(job, w.used);
        }
    }
    lr_release(job->allocator, w.at);
    return job->error.status;
}

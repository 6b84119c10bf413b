/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Recognises the family of a file's tensors by the lines `has` and `knows` of all profiles, and by the name in the
 * model's configuration. A family fits if it has each tensor, with its shape, and no mandatory tensor is missing. A
 * file that fits no family has none: a wrong guess would be worse. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "remap/recognise_private.h"

/** A profile that may be the one. */
typedef struct candidate {
    const lr_config *config;
    const lr_profile_section *section;
    const char *select; /* of the profile itself; NULL: none */
    lr_looks first;     /* what it always has, the first of it */
    bool begun;         /* a key is that */
} candidate;

typedef struct finder {
    rec_job *job;
    lr_families *families;
    const rec_record *record;
    lr_variables numbers;
    rec_plan *plan; /* for the keys alone */
    lr_plan_source *source;
    lr_matcher *matcher;
    lr_library library;
    candidate *candidates;
    uint64_t count, room;
    lr_named *keys; /* room for all tensors */
    uint64_t room_families;
} finder;

/* ---------------------------------------------------------------------------------------------------- profiles -- */

static int32_t on_profile(void *user, const lr_config *config, const lr_profile_section *section)
{
    finder *f = user;
    candidate *c;
    if (!section->family) {
        return REC_OK;
    }
    for (uint64_t i = 0; i < f->count; i++) {
        if (lr_name_same(f->candidates[i].section->name, section->name)) {
            return REC_OK; /* the context's own one hides it */
        }
    }
    if (!lr_job_grow(f->job, &f->candidates, f->count + 1, &f->room, sizeof *f->candidates)) {
        return f->job->error.status;
    }
    c = &f->candidates[f->count++];
    *c = (candidate){.config = config, .section = section};
    for (uint64_t i = 0; i < section->setting_count; i++) {
        if (strcmp(section->settings[i].key, "select") == 0 && strcmp(section->settings[i].value, ".") != 0) {
            c->select = section->settings[i].value;
        }
    }
    return lr_looks_read(f->job, &c->first, lr_config_file(config), section, true);
}

/* -------------------------------------------------------------------------------------------------------- keys -- */

/* The tensors below a path, or all. @return how many. */
static uint64_t collect(finder *f, const char *select)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i < f->source->key_count; i++) {
        const lr_key *key = &f->source->keys[i];
        lr_named named = {.text = key->text, .length = key->length, .tensor = rec_value_tensor(key->value)};
        if (named.tensor && lr_key_below(select, &named.text, &named.length)) {
            f->keys[count++] = named;
        }
    }
    return count;
}

/* The name that all keys begin with: a further level of `select`. @return false: they differ. */
static bool common_top(finder *f, const char *select, char *path, size_t room)
{
    uint64_t count = collect(f, select);
    const char *dot = count ? memchr(f->keys[0].text, '.', (size_t)f->keys[0].length) : NULL;
    size_t length = dot ? (size_t)(dot - f->keys[0].text) + 1 : 0;
    int n;
    if (!length || memchr(f->keys[0].text, '\\', length)) {
        return false;
    }
    for (uint64_t i = 1; i < count; i++) {
        if (f->keys[i].length <= length || memcmp(f->keys[i].text, f->keys[0].text, length) != 0) {
            return false;
        }
    }
    n = snprintf(path, room, "%s%s%.*s", select ? select : "", select ? "." : "", (int)length - 1, f->keys[0].text);
    return n > 0 && (size_t)n < room;
}

/* ---------------------------------------------------------------------------------------------------- deciding -- */

/* Whether a list of words has one. */
static bool in_words(const char *words, const char *word)
{
    char one[LR_NAME_MOST + 1];
    while (words && *words) {
        size_t length = strcspn(words, " \t");
        if (length && length < sizeof one) {
            memcpy(one, words, length);
            one[length] = '\0';
            if (lr_name_same(one, word)) {
                return true;
            }
        }
        words += length + strspn(words + length, " \t");
    }
    return false;
}

bool lr_family_has(const char *profile, const char *others, const char *name)
{
    return lr_name_same(profile, name) || in_words(others, name);
}

static int32_t add(finder *f, const candidate *c, const char *select, const char *but, bool confirmed)
{
    lr_families *l = f->families;
    lr_family *family;
    if (!lr_job_grow(f->job, &l->at, l->count + 1, &f->room_families, sizeof *l->at)) {
        return f->job->error.status;
    }
    family = &l->at[l->count];
    *family = (lr_family){
        .profile = lr_arena_text(&l->arena, c->section->name, strlen(c->section->name)),
        .name = lr_arena_text(&l->arena, c->section->family, strlen(c->section->family)),
        .others = c->section->others ? lr_arena_text(&l->arena, c->section->others, strlen(c->section->others)) : "",
        .select = select ? lr_arena_text(&l->arena, select, strlen(select)) : "",
        .but = lr_arena_text(&l->arena, but, strlen(but)),
        .confirmed = confirmed};
    if (!family->profile || !family->name || !family->others || !family->select || !family->but) {
        return lr_fail_memory(f->job, sizeof *family);
    }
    l->count++;
    return REC_OK;
}

/* Holds the file against one family. @param count (out) of its tensors below a path. @return false: the job has failed.
 */
static bool hold(finder *f, const candidate *c, const char *select, uint64_t *count, lr_rest *rest)
{
    lr_looks looks;
    bool held;
    *count = collect(f, select);
    held = lr_looks_read(f->job, &looks, lr_config_file(c->config), c->section, false) == REC_OK &&
           lr_looks_hold(f->job, &looks, f->matcher, f->keys, *count, rest) == REC_OK;
    lr_looks_free(f->job, &looks);
    return held;
}

/* Adds a family that the file may be of. @param select what is looked below. @param said of that, what its profile does
 * not say. */
static int32_t try_one(finder *f, const candidate *c, const char *select, const char *said)
{
    const lr_profile_section *s = c->section;
    const char *type = f->numbers.model_type, *own = rec_metadata(f->record, "general.architecture");
    bool named = type && s->model_type && in_words(s->model_type, type);
    lr_rest rest;
    char but[700] = "";
    uint64_t count;
    if (s->architecture && !(own && in_words(s->architecture, own))) {
        return REC_OK;
    }
    if (hold(f, c, select, &count, &rest) && !rest.lacks && !rest.misfit && (!rest.strangers || rest.aside)) {
        if (rest.strangers) {
            (void)snprintf(but, sizeof but, "%" PRIu64 " of %" PRIu64 " keys %s none of %s's: %.*s%s", rest.strangers,
                           count, rest.strangers == 1 ? "is" : "are", s->family,
                           (int)(rest.stranger->length < 300 ? rest.stranger->length : 300), rest.stranger->text,
                           rest.strangers > 1 ? ", …" : "");
        } else if (type && s->model_type && !named) {
            const char *slash = strrchr(f->numbers.config_file, '/');
            (void)snprintf(but, sizeof but, "its %.300s says model_type \"%s\"",
                           slash ? slash + 1 : f->numbers.config_file, type);
        } else if (s->doubt) {
            (void)snprintf(but, sizeof but, "%.600s", s->doubt);
        }
        (void)add(f, c, said, but, named);
    }
    return f->job->error.status;
}

/* Which families may be there at all: one pass over all keys. */
static int32_t begin(finder *f, const char *select)
{
    for (uint64_t i = 0; i < f->count; i++) {
        f->candidates[i].begun = false;
    }
    for (uint64_t k = 0; k < f->source->key_count && !lr_job_failed(f->job); k++) {
        const lr_key *key = &f->source->keys[k];
        if (key->value->kind != REC_KIND_TENSOR) {
            continue;
        }
        for (uint64_t i = 0; i < f->count; i++) {
            candidate *c = &f->candidates[i];
            const char *text = key->text;
            size_t length = key->length;
            int hit = 0;
            if (c->first.count && !c->begun && lr_key_below(select ? select : c->select, &text, &length)) {
                hit = lr_regex_match(f->job, c->first.at[0].regex, f->matcher, text, length);
            }
            if (hit < 0) {
                break;
            }
            c->begun = c->begun || hit;
        }
    }
    return f->job->error.status;
}

static int32_t search(finder *f, const char *select)
{
    int32_t status = begin(f, select);
    for (uint64_t i = 0; i < f->count && status == REC_OK; i++) {
        const candidate *c = &f->candidates[i];
        status = c->begun ? try_one(f, c, select ? select : c->select, select) : REC_OK;
    }
    return status;
}

/* Those that fit first; of these only those that the configuration names, if it names any; of the others only if none
 * fits. */
static void choose(lr_families *l)
{
    bool fits = false, confirmed = false;
    uint64_t kept = 0;
    for (uint64_t i = 0; i < l->count; i++) {
        fits = fits || !*l->at[i].but;
        confirmed = confirmed || (!*l->at[i].but && l->at[i].confirmed);
    }
    for (uint64_t i = 0; i < l->count; i++) {
        if (fits ? !*l->at[i].but && (!confirmed || l->at[i].confirmed) : true) {
            l->at[kept++] = l->at[i];
        }
    }
    l->count = kept;
    l->fits = fits;
}

void lr_families_free(const rec_job *job, lr_families *families)
{
    lr_release(job->allocator, families->at);
    lr_arena_free(&families->arena);
    *families = (lr_families){0};
}

/* Reads the configuration. To be ended also on failure. */
static int32_t begin_finder(finder *f, rec_job *job, const rec_record *record, const char *path, const char *config)
{
    *f = (finder){.job = job, .record = record};
    lr_library_begin(&f->library, job);
    lr_variables_init(&f->numbers, job->allocator);
    return lr_variables_read(job, &f->numbers, path, config);
}

/* Lists the keys and the profiles. */
static int32_t list_all(finder *f)
{
    rec_job *job = f->job;
    f->plan = lr_plan_new(job, (lr_type_ref){0}, 0, REC_PRECISION_KEEP, false);
    f->source = f->plan ? lr_plan_source_new(job, f->plan) : NULL;
    if (!f->source) {
        return job->error.status;
    }
    f->source->record = f->record;
    f->matcher = lr_matcher_new(job);
    if (f->matcher && lr_plan_keys(job, f->plan, 0) == REC_OK &&
        lr_library_each(&f->library, on_profile, f) == REC_OK) {
        f->keys = lr_job_alloc(job, (f->source->key_count + 1) * sizeof *f->keys);
    }
    return job->error.status;
}

static void end_finder(finder *f)
{
    for (uint64_t i = 0; i < f->count; i++) {
        lr_looks_free(f->job, &f->candidates[i].first);
    }
    lr_release(f->job->allocator, f->candidates);
    lr_release(f->job->allocator, f->keys);
    lr_matcher_free(f->matcher);
    lr_library_end(&f->library);
    lr_variables_free(&f->numbers);
    rec_plan_free(f->plan);
}

/* Compares the file with one family. */
static int32_t compare_one(finder *f, const candidate *c, const char *select, lr_family_rest *out)
{
    const lr_profile_section *s = c->section;
    const char *type = f->numbers.model_type;
    uint64_t count;
    lr_rest rest = {0};
    if (hold(f, c, select ? select : c->select, &count, &rest)) {
        out->known = true;
        out->strangers = rest.strangers;
        (void)snprintf(out->name, sizeof out->name, "%s", s->family);
        if (rest.stranger) {
            uint64_t length = rest.stranger->length < sizeof out->stranger ? rest.stranger->length : 190;
            (void)snprintf(out->stranger, sizeof out->stranger, "%.*s", (int)length, rest.stranger->text);
        }
        if (type && s->model_type && !in_words(s->model_type, type)) {
            (void)snprintf(out->model_type, sizeof out->model_type, "%s", type);
            (void)snprintf(out->types, sizeof out->types, "%s", s->model_type);
        }
    }
    return f->job->error.status;
}

int32_t lr_family_compare(rec_job *job, const rec_record *record, const char *path, const char *config,
                          const char *select, const char *profile, lr_family_rest *rest)
{
    finder f;
    *rest = (lr_family_rest){0};
    if (begin_finder(&f, job, record, path, config) == REC_OK && list_all(&f) == REC_OK) {
        for (uint64_t i = 0; i < f.count && !rest->known && !lr_job_failed(job); i++) {
            const lr_profile_section *s = f.candidates[i].section;
            if (lr_family_has(s->name, s->others, profile)) {
                (void)compare_one(&f, &f.candidates[i], select, rest);
            }
        }
    }
    end_finder(&f);
    return job->error.status;
}

/* As lr_families_guess(), but a failure is the job's. */
static int32_t find_families(rec_job *job, const rec_record *record, const char *file, const char *config,
                             const char *select, const char *asked, bool typed, lr_families *families)
{
    enum { LEVELS = 3 };
    finder f;
    char path[2][300];
    const char *at = select;
    *families = (lr_families){0};
    lr_arena_init(&families->arena, job->allocator);
    if (begin_finder(&f, job, record, file, config) != REC_OK || (typed && !f.numbers.model_type) ||
        list_all(&f) != REC_OK) {
        goto done;
    }
    f.families = families;
    families->typed = f.numbers.model_type != NULL;
    for (uint64_t i = 0; i < f.count && asked; i++) {
        const lr_profile_section *section = f.candidates[i].section;
        families->known = families->known || lr_family_has(section->name, section->others, asked);
    }
    /* Tries the tensors below one common name: module, state_dict. */
    for (int level = 0; level < LEVELS && search(&f, at) == REC_OK && !families->count && !select; level++) {
        if (!common_top(&f, at, path[level % 2], sizeof path[0])) {
            break;
        }
        at = path[level % 2];
    }
    if (!lr_job_failed(job)) {
        choose(families);
    }

done:
    end_finder(&f);
    if (lr_job_failed(job)) {
        lr_families_free(job, families);
    }
    return job->error.status;
}

void lr_families_guess(rec_context *context, const rec_record *record, const char *file, const char *config,
                       const char *select, const char *asked, bool typed, lr_families *families)
{
    rec_job own;
    lr_job_begin(&own, context, "families", NULL);
    (void)find_families(&own, record, file, config, select, asked, typed, families);
    lr_job_drop(&own);
}

/* ---------------------------------------------------------------------------------------------------- programs -- */

static char *put(char **at, const char *text)
{
    size_t size = strlen(text) + 1;
    char *put = memcpy(*at, text, size);
    *at += size;
    return put;
}

struct rec_families {
    uint64_t count;
    rec_family at[];
};

/* The list and its texts as one block, which rec_free() frees. NULL: the job has failed. */
static rec_families *as_block(rec_job *job, const lr_families *found)
{
    size_t size = sizeof(rec_families);
    rec_families *list;
    char *text;
    for (uint64_t i = 0; i < found->count; i++) {
        const lr_family *f = &found->at[i];
        size += sizeof(rec_family) + strlen(f->profile) + strlen(f->name) + strlen(f->others) + strlen(f->select) +
                strlen(f->but) + 5;
    }
    list = malloc(size);
    if (!list) {
        return LR_AS_NULL(lr_fail_memory(job, size));
    }
    memset(list, 0, size);
    list->count = found->count;
    text = (char *)(list->at + found->count);
    for (uint64_t i = 0; i < found->count; i++) {
        const lr_family *f = &found->at[i];
        list->at[i] = (rec_family){.size = sizeof(rec_family), .fits = found->fits};
        list->at[i].profile = put(&text, f->profile);
        list->at[i].name = put(&text, f->name);
        list->at[i].others = put(&text, f->others);
        list->at[i].select = put(&text, f->select);
        list->at[i].but = put(&text, f->but);
    }
    return list;
}

rec_families *rec_record_families(const rec_record *record, const char *path, uint64_t *count)
{
    rec_job job;
    lr_families found;
    rec_families *list = NULL;
    if (LR_NULL(record) || LR_NULL(count)) {
        return NULL;
    }
    *count = 0;
    lr_job_begin(&job, record->context, "families", path);
    if (find_families(&job, record, path, NULL, NULL, NULL, false, &found) == REC_OK) {
        list = as_block(&job, &found);
        *count = list ? found.count : 0;
        lr_families_free(&job, &found);
    }
    if (lr_job_end(&job) != REC_OK) {
        free(list);
        list = NULL;
        *count = 0;
    }
    return list;
}

const rec_family *rec_families_get(const rec_families *families, uint64_t index)
{
    return families && index < families->count ? &families->at[index] : NULL;
}

/* ---------------------------------------------------------------------------------------------------- choosing -- */

/* "llama, gemma" */
static void list_profiles(const lr_families *found, char *text, size_t room)
{
    size_t used = 0;
    text[0] = '\0';
    for (uint64_t i = 0; i < found->count && used < room; i++) {
        used += (size_t)snprintf(text + used, room - used, "%s%s", i ? ", " : "", found->at[i].profile);
    }
}

static int32_t refuse(rec_job *job, const lr_families *found)
{
    char names[400];
    list_profiles(found, names, sizeof names);
    if (found->count && found->fits && !*found->at[0].select) {
        (void)rec_fail(job, REC_E_MISMATCH, REC_UNKNOWN, "profile auto: several profiles fit: %s", names);
        rec_fail_hint(job, "Name one of them. %s",
                      found->typed ? "" : "A companion config.json with its model_type would decide.");
    } else if (found->count && found->fits) {
        (void)rec_fail(job, REC_E_MISMATCH, REC_UNKNOWN, "profile auto: no profile fits the whole file");
        rec_fail_hint(job, "Below %.200s it is %.100s: `select = %.200s` and `profile = %.64s`.", found->at[0].select,
                      found->at[0].name, found->at[0].select, found->at[0].profile);
    } else if (found->count) {
        (void)rec_fail(job, REC_E_MISMATCH, REC_UNKNOWN, "profile auto: no profile fits");
        rec_fail_hint(job, "%.64s nearly does, but %.600s.\nIf it is the right one, name it: `profile = %.64s`.",
                      found->at[0].profile, found->at[0].but, found->at[0].profile);
    } else {
        (void)rec_fail(job, REC_E_MISMATCH, REC_UNKNOWN, "profile auto: no profile fits");
        rec_fail_hint(job, "Name a profile, or write rules: no profile is for its family.");
    }
    return job->error.status;
}

lr_rules *lr_profile_choose(rec_job *job, const rec_record *record, const lr_arguments *arguments, const char *path,
                            lr_family *family)
{
    const char *select = arguments->rules && arguments->rules->select && strcmp(arguments->rules->select, ".") != 0
                             ? arguments->rules->select
                             : NULL;
    lr_families found = {0};
    lr_rules *rules = NULL;
    *family = (lr_family){0};
    if (arguments->reverse) {
        (void)rec_fail(job, REC_E_ARGUMENT, REC_UNKNOWN, "profile auto cannot choose for a reverse load");
        rec_fail_hint(job, "A record does not show which file it came from: name the profile.");
    } else if (find_families(job, record, path, arguments->config, select, NULL, false, &found) == REC_OK) {
        const lr_family *only = found.count == 1 && found.fits ? &found.at[0] : NULL;
        /* Rules for a deeper level count only if that level was requested. */
        if (!only || (*only->select && !select)) {
            (void)refuse(job, &found);
        } else if ((rules = lr_profile_load(job, only->profile, NULL)) != NULL) {
            family->profile = rules->name;
            family->name = lr_arena_text(&rules->arena, only->name, strlen(only->name));
            family->others = lr_arena_text(&rules->arena, only->others, strlen(only->others));
            if (!family->name || !family->others) {
                (void)lr_fail_memory(job, strlen(only->name) + strlen(only->others));
            }
        }
    }
    lr_families_free(job, &found);
    if (lr_job_failed(job)) {
        lr_rules_free(rules);
        rules = NULL;
    }
    return rules;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A record taken apart for a writer that has all under paths: a module's parameters as Burn's own store calls them, an
 * optimizer and a scheduler as the states that they are from Burn 0.22 on. It is between the walk and the writer. */
#include <inttypes.h>
#include <stdio.h>

#include "burn/visit/event.h"
#include "burn/visit/walk_private.h"

enum { TUPLES_SINCE = 20 };

/* What the record is. */
enum { MODULE, OPTIMIZER, SCHEDULER, STATE };

/* How far the path goes: its names may be empty. */
typedef struct place {
    uint64_t used, parts;
} place;

typedef struct frame {
    int32_t kind;   /* REC_KIND_MAP, _LIST, _VARIANT */
    bool tuple;     /* whose elements have no step */
    uint64_t index; /* of the next element */
    place here;     /* of the path, up to it */
} frame;

struct lr_paths {
    lr_listener listener;
    lr_walk *walk;
    rec_visitor to;
    void *self;
    int mode;
    const lr_scheduler *scheduler; /* of the number that comes */
    uint64_t id;                   /* of the parameter whose state it is */
    char id_text[REC_ID_ROOM];
    frame *frames;
    uint64_t depth, frame_room;
    char *path;
    place here;
    uint64_t room;
};

/* ------------------------------------------------------------------------------------------------------- steps -- */

static int32_t append(lr_paths *p, const char *text, uint64_t length)
{
    rec_job *job = p->walk->job;
    if (!lr_job_grow_counted(job, &p->path, p->here.used + 2 * length + 4, &p->room, 1)) {
        return job->error.status;
    }
    if (p->here.parts++) {
        p->path[p->here.used++] = '.';
    }
    if (p->mode == MODULE && !p->walk->record->dotted && rec_is_rust_word(text, length)) {
        memcpy(p->path + p->here.used, "r#", 2);
        p->here.used += 2;
    }
    for (uint64_t i = 0; i < length; i++) {
        if (text[i] == '.' || text[i] == '\\') {
            p->path[p->here.used++] = '\\';
        }
        p->path[p->here.used++] = text[i];
    }
    return REC_OK;
}

/* Tells the writer of a leaf. */
static int32_t tell_key(lr_paths *p)
{
    rec_scalar key = {.kind = REC_KIND_STRING, .v.length = p->here.used, .text = p->here.used ? p->path : ""};
    return p->to.key(p->self, REC_UNKNOWN, &key);
}

static int32_t tell_number(lr_paths *p, const rec_scalar *number)
{
    int32_t status = tell_key(p);
    return status == REC_OK ? p->to.scalar(p->self, REC_UNKNOWN, number) : status;
}

/* {id: {"V1": {"RankN": …}}}: the id is the first step, the rank a number of its own. */
static int32_t step_optimizer(lr_paths *p, const rec_scalar *name, uint64_t level)
{
    static const char rank[] = "Rank";
    rec_job *job = p->walk->job;
    char digits[24];
    place before = p->here;
    rec_scalar number = {.kind = REC_KIND_UINT, .bits = 64};
    int32_t status;
    if (level == 0) {
        int length;
        if (name->v.length >= REC_ID_ROOM || !rec_id_number(name->text, &p->id)) {
            return rec_fail(job, REC_E_UNSUPPORTED, REC_UNKNOWN,
                            "the state is of a parameter whose id is invalid in Burn 0.%d has", (int)job->burn.minor);
        }
        (void)rec_id_text(p->id, p->id_text);
        length = snprintf(digits, sizeof digits, "%" PRIu64, p->id);
        return append(p, digits, (uint64_t)length);
    }
    if (level == 1) {
        return REC_OK;
    }
    number.v.u = name->v.length == sizeof rank && memcmp(name->text, rank, sizeof rank - 1) == 0
                     ? (uint64_t)(name->text[sizeof rank - 1] - '0')
                     : 0;
    if (number.v.u < 1 || number.v.u > 9) {
        return rec_fail_found(job, REC_E_UNSUPPORTED, REC_UNKNOWN,
                              "the rank of an optimizer's state, such as \"Rank2\"", "\"%.40s\"", name->text);
    }
    status = append(p, "__rank", 6);
    status = status == REC_OK ? tell_number(p, &number) : status;
    p->here = before;
    return status;
}

/* A key or a variant's name. @param level of names above it. */
static int32_t step(lr_paths *p, const rec_scalar *name, uint64_t level)
{
    if (p->mode == OPTIMIZER && level < 3) {
        return step_optimizer(p, name, level);
    }
    if (p->mode == SCHEDULER) {
        if (level > 0) { /* the first is `schedulers` */
            p->scheduler = lr_scheduler_find(NULL, name->text, NULL);
        }
        return REC_OK;
    }
    return append(p, name->text, name->v.length);
}

/* A value comes: what is in a list has its index as step. */
static int32_t begin_value(lr_paths *p)
{
    frame *f = p->depth ? &p->frames[p->depth - 1] : NULL;
    char digits[24];
    int length;
    if (!f || f->kind != REC_KIND_LIST) {
        return REC_OK;
    }
    p->here = f->here;
    length = snprintf(digits, sizeof digits, "%" PRIu64, f->index++);
    return f->tuple ? REC_OK : append(p, digits, (uint64_t)length);
}

static int32_t open_frame(lr_paths *p, int32_t kind, bool tuple)
{
    rec_job *job = p->walk->job;
    if (!lr_job_grow_counted(job, &p->frames, p->depth + 1, &p->frame_room, sizeof *p->frames)) {
        return job->error.status;
    }
    p->frames[p->depth++] = (frame){.kind = kind, .tuple = tuple, .here = p->here};
    return REC_OK;
}

/* ------------------------------------------------------------------------------------------------------ events -- */

/* The number that a scheduler is to a Burn with recorders, under its name. */
static int32_t scheduler_number(lr_paths *p, const rec_scalar *scalar)
{
    rec_job *job = p->walk->job;
    const lr_scheduler *s = p->scheduler;
    rec_scalar number = {.kind = s ? s->kind : REC_KIND_NIL, .bits = 64};
    bool whole = scalar->kind == REC_KIND_UINT || (scalar->kind == REC_KIND_INT && scalar->v.i >= 0);
    int32_t status;
    if (!s) {
        (void)rec_fail(job, REC_E_TYPE, REC_UNKNOWN,
                       "this number is the record of an unknown scheduler: its type is needed");
        rec_fail_hint(job,
                      "It is NoamLrScheduler, CosineAnnealingLrScheduler, LinearLrScheduler, ExponentialLrScheduler or "
                      "StepLrScheduler.");
        return job->error.status;
    }
    if (s->kind == REC_KIND_UINT && whole) {
        number.v.u = scalar->v.u;
    } else if (s->kind == REC_KIND_INT && (scalar->kind == REC_KIND_INT || (whole && scalar->v.u <= INT64_MAX))) {
        number.v.i = scalar->v.i;
    } else if (s->kind == REC_KIND_FLOAT && scalar->kind == REC_KIND_FLOAT) {
        number.v.f = scalar->v.f;
    } else if (s->kind == REC_KIND_FLOAT && whole && scalar->v.u <= UINT64_C(1) << 53) {
        number.v.f = (double)scalar->v.u;
    } else {
        return rec_fail(job, REC_E_MISMATCH, REC_UNKNOWN, "the number is invalid for a %s has", s->type);
    }
    status = append(p, s->name, strlen(s->name));
    return status == REC_OK ? tell_number(p, &number) : status;
}

/* A module of Burn 0.22 has tensors only. */
static void tell_left_out(lr_paths *p, const rec_scalar *scalar)
{
    char words[64];
    rec_value value = {.kind = (uint8_t)scalar->kind, .bits = scalar->bits, .v.u = scalar->v.u};
    bool text = scalar->kind == REC_KIND_STRING;
    lr_walk_tell(p->walk, REC_NOTE_DROPPED, 1, text ? NULL : lr_walk_value_words(&value, words, sizeof words),
                 "a %s holds only the tensors of a module: the other values of the record are left out",
                 p->walk->job->plugin->name);
}

static int32_t on_scalar(lr_paths *p, const rec_scalar *scalar)
{
    int32_t status = begin_value(p);
    if (status != REC_OK || scalar->kind == REC_KIND_NIL) {
        return status;
    }
    if (p->mode == SCHEDULER) {
        return scheduler_number(p, scalar);
    }
    if (p->mode == MODULE || scalar->kind == REC_KIND_STRING) {
        tell_left_out(p, scalar);
        return REC_OK;
    }
    return tell_number(p, scalar);
}

static int32_t on_numbers(lr_paths *p, rec_dtype dtype, const uint8_t *data, uint64_t count)
{
    int32_t status = REC_OK;
    for (uint64_t i = 0; i < count && status == REC_OK; i++) {
        rec_scalar number = lr_host_element(dtype, data + i * (rec_dtype_bits(dtype) / 8));
        status = on_scalar(p, &number);
    }
    return status;
}

static uint64_t names_above(const lr_paths *p)
{
    uint64_t names = 0;
    for (uint64_t i = 0; i < p->depth; i++) {
        names += p->frames[i].kind != REC_KIND_LIST;
    }
    return names;
}

static int32_t on_key(lr_paths *p, const rec_scalar *key)
{
    char digits[LR_KEY_DIGITS];
    rec_scalar text = {.kind = REC_KIND_STRING};
    text.text = lr_key_text(key, digits, &text.v.length);
    p->here = p->frames[p->depth - 1].here;
    return step(p, &text, names_above(p) - 1);
}

/* The metadata were walked before. */
static int32_t on_event(lr_listener *self, const lr_event *e)
{
    lr_paths *p = (lr_paths *)self;
    rec_tensor_event own;
    int32_t status = REC_OK;
    switch (e->kind) {
    case LR_EVENT_SCALAR:
        return on_scalar(p, e->scalar);
    case LR_EVENT_NUMBERS:
        return on_numbers(p, e->dtype, e->data, e->count);
    case LR_EVENT_BYTES:
        status = begin_value(p);
        if (status == REC_OK) {
            tell_left_out(p, &(rec_scalar){.kind = REC_KIND_STRING});
        }
        return status;
    case LR_EVENT_LIST:
        status = begin_value(p);
        return status == REC_OK ? open_frame(p, REC_KIND_LIST,
                                             e->form == REC_FORM_TUPLE && p->mode == MODULE &&
                                                 p->walk->job->burn.minor < TUPLES_SINCE)
                                : status;
    case LR_EVENT_MAP:
        status = begin_value(p);
        return status == REC_OK ? open_frame(p, REC_KIND_MAP, false) : status;
    case LR_EVENT_KEY:
        return on_key(p, e->key);
    case LR_EVENT_VARIANT:
        status = begin_value(p);
        status = status == REC_OK ? step(p, e->key, names_above(p)) : status;
        return status == REC_OK ? open_frame(p, REC_KIND_VARIANT, false) : status;
    case LR_EVENT_END:
        p->depth--;
        return REC_OK;
    case LR_EVENT_OPTION:
        return e->form ? REC_OK : begin_value(p);
    case LR_EVENT_TENSOR:
        status = begin_value(p);
        own = *e->tensor;
        own.id = p->mode == OPTIMIZER ? p->id_text : own.id;
        status = status == REC_OK ? tell_key(p) : status;
        return status == REC_OK ? p->to.tensor(p->self, e->at, &own) : status;
    default:
        return REC_OK;
    }
}

/* --------------------------------------------------------------------------------------------------- the whole -- */

static bool is_number(const rec_value *value)
{
    return value->kind == REC_KIND_INT || value->kind == REC_KIND_UINT || value->kind == REC_KIND_FLOAT ||
           value->kind == REC_KIND_NUMBERS;
}

/* Up to Burn 0.14 some schedulers were tuples of their numbers. */
static bool is_tuple(const rec_value *value)
{
    const lr_list *list = value->kind == REC_KIND_LIST ? value->v.list : NULL;
    bool numbers = list && list->count > 0;
    for (uint64_t i = 0; numbers && i < list->count; i++) {
        numbers = is_number(&list->items[i]);
    }
    return numbers;
}

static int mode_of(const rec_record *record)
{
    const rec_value *root = &record->root;
    bool scheduler = is_number(root) || is_tuple(root) || lr_scheduler_is_composed(root);
    return lr_optimizer_is(root) ? OPTIMIZER : record->states ? STATE : scheduler ? SCHEDULER : MODULE;
}

/* Each state is {"V1": {"RankN": {names}}}; other shapes could not be restored from paths. */
static int32_t check_states(const lr_walk *w)
{
    const lr_map *map = w->record->root.v.map;
    for (uint64_t i = 0; i < map->count; i++) {
        const rec_value *ranked, *state = NULL;
        (void)lr_value_variant(&map->entries[i].value, &ranked);
        if (ranked) {
            (void)lr_value_variant(ranked, &state);
        }
        if (!state || state->kind != REC_KIND_MAP) { /* one without names is a parameter's that needs none */
            return rec_fail_found(w->job, REC_E_UNSUPPORTED, REC_UNKNOWN,
                                  "the state of each parameter of an optimizer as V1, its rank and a map",
                                  "another value for %.40s", map->entries[i].key.v.text);
        }
    }
    return REC_OK;
}

int32_t lr_walk_paths_begin(lr_walk *w, lr_paths **out)
{
    lr_paths *p;
    int mode = mode_of(w->record);
    if (mode != MODULE && w->job->burn.minor < LR_BURN_STATES) {
        (void)rec_fail(w->job, REC_E_UNSUPPORTED, REC_UNKNOWN,
                       "Burn 0.%d stores %s in the files of its recorders, not in %s", (int)w->job->burn.minor,
                       mode == OPTIMIZER ? "an optimizer" : "a scheduler", w->job->plugin->name);
        rec_fail_hint(w->job, "Burn 0.%d is the first that does; for the others write .mpk, for example.",
                      LR_BURN_STATES);
        return w->job->error.status;
    }
    if (mode == OPTIMIZER && check_states(w) != REC_OK) {
        return w->job->error.status;
    }
    p = rec_job_alloc(w->job, sizeof *p);
    if (!p) {
        return w->job->error.status;
    }
    *p = (lr_paths){.listener.event = on_event, .walk = w, .to = w->visitor, .self = w->self, .mode = mode};
    *out = p;
    w->visitor = lr_listener_visitor;
    w->self = &p->listener;
    if (mode == SCHEDULER) {
        p->scheduler = w->job->type.name ? lr_scheduler_find(w->job->type.name, NULL, NULL) : NULL;
        if (append(p, "0", 1) != REC_OK) { /* the group of all parameters */
            return w->job->error.status;
        }
    }
    return p->to.map_begin(p->self, REC_UNKNOWN, REC_FORM_PATHS, REC_UNKNOWN);
}

int32_t lr_walk_paths_end(lr_walk *w, lr_paths *p, int32_t status)
{
    if (p) {
        status = status == REC_OK ? p->to.end(p->self, REC_UNKNOWN) : status;
        rec_job_free(w->job, p->frames);
        rec_job_free(w->job, p->path);
        rec_job_free(w->job, p);
    }
    return status;
}

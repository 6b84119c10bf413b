/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Many files converted by several processes, each file by one of them. The first process finds the files; all look at a
 * part of them; names that are there already are the first one's to decide about, before anything is written; then each
 * converts its share, and in the end all have all results. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/convert/recursive_private.h"

/* ---------------------------------------------------------------------------------------------------- messages -- */

/* The text of all processes, concatenated. Fields end in a zero byte. */
typedef struct said {
    char *at;
    uint64_t *ends; /* of each process's */
    const char *next;
} said;

static void put_number(text *t, uint64_t number)
{
    tool_text_format(t, "%" PRIu64, number);
    tool_text_add(t, "", 1);
}

/* NULL and "" are different. */
static void put_string(text *t, const char *string)
{
    tool_text_put(t, string ? "=" : "-");
    tool_text_put(t, string ? string : "");
    tool_text_add(t, "", 1);
}

static uint64_t get_number(said *all)
{
    uint64_t number = strtoull(all->next, NULL, 10);

    all->next += strlen(all->next) + 1;
    return number;
}

/* To be freed, or NULL. */
static char *get_string(said *all)
{
    char *string = *all->next == '=' ? xstrdup(all->next + 1) : NULL;

    all->next += strlen(all->next) + 1;
    return string;
}

/* Gives this process's words to the others, and takes theirs. @return false: all know that they are at their end. */
static bool exchange(const session *s, text *mine, said *all)
{
    const tool_shared *shared = s->shared;
    uint64_t *ends = xmalloc(2 * shared->ranks * sizeof *ends), *sizes = ends + shared->ranks, total = 0, own = 0;
    bool met;

    for (uint32_t i = 0; i < shared->ranks; i++) {
        ends[i] = (i + UINT64_C(1)) * sizeof *sizes;
        sizes[i] = mine->length;
    }
    met = shared->exchange(shared->self, sizes, ends);
    for (uint32_t i = 0; i < shared->ranks && met; i++) {
        own = i == shared->rank ? total : own;
        total += sizes[i];
        ends[i] = total;
    }
    *all = (said){.at = xmalloc(met ? (size_t)total + 1 : 1), .ends = ends};
    if (met && mine->length) {
        memcpy(all->at + own, mine->at, mine->length);
    }
    met = met && shared->exchange(shared->self, all->at, ends);
    all->next = all->at;
    tool_text_free(mine);
    return met;
}

static void forget(said *all)
{
    free(all->at);
    free(all->ends);
}

/* --------------------------------------------------------------------------------------------------- the files -- */

/* Describes a file for the other processes, which recognise it by size and time. */
static void put_file(const folder *f, text *t, const found *file)
{
    char *path = tool_folder_path(f, file);
    struct stat is = {0};
    bool there = stat(path, &is) == 0;

    put_string(t, file->name);
    put_string(t, file->why);
    put_number(t, there ? (uint64_t)is.st_size : REC_UNKNOWN);
    put_number(t, (uint64_t)is.st_mtim.tv_sec);
    put_number(t, (uint64_t)is.st_mtim.tv_nsec);
    free(path);
}

/* Local facts about a file. */
typedef struct share {
    uint64_t size, seconds, nanoseconds; /* as the first process found it; size REC_UNKNOWN: it did not */
    uint32_t rank;                       /* who converts it */
    bool may_write;                      /* or could, were it not for one before it */
    bool given;                          /* of the first of a target: one of them may write it */
} share;

/* All have the files that the first process found. @return false: it found none, or all are at their end. */
static bool take_files(folder *f, int status, share **shares)
{
    session *s = f->s;
    text mine = {0};
    said all;
    uint64_t count;
    bool met, good;

    if (s->shared->first) {
        put_number(&mine, (uint64_t)status);
        put_number(&mine, f->count);
        for (size_t i = 0; i < f->count; i++) {
            put_file(f, &mine, &f->files[i]);
        }
    }
    met = exchange(s, &mine, &all);
    good = met && get_number(&all) == EXIT_OK;
    count = good ? get_number(&all) : 0;
    *shares = xmalloc((size_t)(count + 1) * sizeof **shares);
    for (uint64_t i = 0; i < count; i++) {
        char *name = get_string(&all), *why = get_string(&all);
        if (!s->shared->first && f->in) { /* those that were named one by one all know */
            tool_folder_add(f, name, NULL, why);
        }
        (*shares)[i] = (share){.size = get_number(&all)};
        (*shares)[i].seconds = get_number(&all);
        (*shares)[i].nanoseconds = get_number(&all);
        free(name);
        free(why);
    }
    forget(&all);
    return good;
}

/* Whether a file is the one that the first process found. */
static bool is_same(const folder *f, const found *file, const share *x)
{
    char *path = tool_folder_path(f, file);
    struct stat is = {0};
    bool there = stat(path, &is) == 0;

    free(path);
    return there ? x->size == (uint64_t)is.st_size && x->seconds == (uint64_t)is.st_mtim.tv_sec &&
                       x->nanoseconds == (uint64_t)is.st_mtim.tv_nsec
                 : x->size == REC_UNKNOWN;
}

/* Each looks at a part of the files. */
static bool look_at_files(folder *f, const share *shares)
{
    session *s = f->s;
    size_t first = (size_t)((uint64_t)f->count * s->shared->rank / s->shared->ranks);
    size_t end = (size_t)((uint64_t)f->count * (s->shared->rank + UINT64_C(1)) / s->shared->ranks);
    char *other = NULL;
    text mine = {0};
    said all;
    bool met;

    for (size_t i = first; i < end && !other; i++) {
        found *file = &f->files[i];
        if (!is_same(f, file, &shares[i])) {
            char *path = tool_folder_path(f, file);
            other = xasprintf("%s: this is not the file that rank 0 sees", path);
            free(path);
        } else if (!file->why) {
            tool_folder_look(f, file);
        }
        put_number(&mine, (uint64_t)file->result);
        put_string(&mine, file->why);
        put_string(&mine, file->said);
        put_string(&mine, file->recorder);
    }
    met = s->shared->together(s->shared->self, NULL, other != NULL, other);
    free(other);
    if (!met) {
        tool_text_free(&mine);
        return false;
    }
    met = exchange(s, &mine, &all);
    for (size_t i = 0; i < f->count && met; i++) {
        found *file = &f->files[i];
        const rec_plugin_info *plugin;
        char *recorder;
        file->result = (int)get_number(&all);
        free(file->why);
        free(file->said);
        file->why = get_string(&all);
        file->said = get_string(&all);
        recorder = get_string(&all);
        plugin = recorder ? tool_session_plugin(s, recorder) : NULL;
        file->recorder = plugin ? plugin->name : NULL; /* all have the same plugins */
        free(recorder);
    }
    forget(&all);
    return met;
}

/* ----------------------------------------------------------------------------------------------- who does what -- */

/* Files that would become one. */
typedef struct group {
    size_t first, count; /* of the order */
    uint64_t size;
} group;

typedef struct targeted {
    const char *target;
    size_t index;
} targeted;

static int by_target(const void *a, const void *b)
{
    const targeted *x = a, *y = b;
    int order = strcmp(x->target, y->target);

    return order ? order : (x->index > y->index) - (x->index < y->index);
}

/* Largest first; a stable order for equal sizes. */
static int by_size(const void *a, const void *b)
{
    const group *x = a, *y = b;

    return x->size != y->size ? (x->size < y->size ? 1 : -1) : (x->first > y->first) - (x->first < y->first);
}

/* @return the size of a file, and of the files of the model that it is the index of. */
static uint64_t size_of(const folder *f, const share *shares, size_t index)
{
    static const char part[] = "a part of ";
    uint64_t size = shares[index].size == REC_UNKNOWN ? 0 : shares[index].size;

    /* They stand before it: model-00001-of-00002.safetensors, model.safetensors.index.json. */
    for (size_t i = index; i-- > 0 && f->in;) {
        const char *why = f->files[i].why;
        if (why && strncmp(why, part, sizeof part - 1) == 0 &&
            strcmp(why + sizeof part - 1, f->files[index].name) == 0) {
            size += shares[i].size == REC_UNKNOWN ? 0 : shares[i].size;
        } else {
            break;
        }
    }
    return size;
}

/* One process converts all files of one target, since the second is converted only if the first fails. Each group,
 * largest first, goes to the process with the least work. @param firsts (out) for each file the first of its target. */
static void assign(const folder *f, share *shares, size_t *firsts)
{
    targeted *order = xmalloc((f->count + 1) * sizeof *order);
    group *groups = xmalloc((f->count + 1) * sizeof *groups);
    uint64_t *loads = xmalloc(f->s->shared->ranks * sizeof *loads);
    size_t count = 0, group_count = 0;

    for (size_t i = 0; i < f->count; i++) {
        firsts[i] = i;
        if (f->files[i].target) {
            order[count++] = (targeted){f->files[i].target, i};
        }
    }
    if (count) {
        qsort(order, count, sizeof *order, by_target);
    }
    for (size_t i = 0; i < count; i++) {
        bool same = i && strcmp(order[i].target, order[i - 1].target) == 0;
        if (!same) {
            groups[group_count++] = (group){.first = i};
        }
        firsts[order[i].index] = order[groups[group_count - 1].first].index;
        groups[group_count - 1].count++;
        groups[group_count - 1].size += size_of(f, shares, order[i].index) + 1;
    }
    if (group_count) {
        qsort(groups, group_count, sizeof *groups, by_size);
    }
    memset(loads, 0, f->s->shared->ranks * sizeof *loads);
    for (size_t i = 0; i < group_count; i++) {
        uint32_t least = 0;
        for (uint32_t rank = 1; rank < f->s->shared->ranks; rank++) {
            least = loads[rank] < loads[least] ? rank : least;
        }
        loads[least] += groups[i].size;
        for (size_t k = 0; k < groups[i].count; k++) {
            shares[order[groups[i].first + k].index].rank = least;
        }
    }
    free(loads);
    free(groups);
    free(order);
}

/* A file in the other folder that only who sees that folder knows; NULL where none can be made, which each file will
 * tell. */
static char *make_mark(const folder *f)
{
    char *below = xasprintf("%s/x", f->out), *mark = xasprintf("%s/.librecord-tmp-XXXXXX", f->out);
    int fd = tool_folder_make(below) ? mkstemp(mark) : -1;

    free(below);
    if (fd < 0) {
        free(mark);
        return NULL;
    }
    (void)close(fd);
    return mark;
}

/* The first process decides what may be written, and asks. Then all see whether they have one folder to write to. */
static bool decide(folder *f, share *shares, const size_t *firsts)
{
    session *s = f->s;
    bool first = s->shared->first, any = false, met;
    char *own = NULL, *mark, *unseen = NULL;
    text mine = {0};
    said all;

    for (size_t i = 0; i < f->count && first; i++) {
        found *file = &f->files[i];
        share *x = &shares[i];
        if (file->target && shares[firsts[i]].given) {
            /* Where the one before it fails its turn comes, unless it stands in another's way. */
            (void)tool_folder_is_free(f, file);
            x->may_write = true;
        } else if (file->target) {
            x->may_write = shares[firsts[i]].given = tool_folder_may_write(f, file);
        }
        any = any || x->may_write;
        put_number(&mine, x->may_write);
        put_number(&mine, (uint64_t)file->result);
        put_string(&mine, file->why);
    }
    if (first) {
        own = any && !f->dry ? make_mark(f) : NULL;
        put_string(&mine, own);
    }
    met = exchange(s, &mine, &all);
    for (size_t i = 0; i < f->count && met; i++) {
        found *file = &f->files[i];
        shares[i].may_write = get_number(&all) != 0;
        file->result = (int)get_number(&all);
        free(file->why);
        file->why = get_string(&all);
    }
    mark = met ? get_string(&all) : NULL;
    forget(&all);
    if (mark && access(mark, F_OK) != 0) {
        unseen = xasprintf("%s: this is not the directory that rank 0 sees", f->out);
    }
    met = met && s->shared->together(s->shared->self, NULL, unseen != NULL, unseen);
    if (own) {
        (void)unlink(own);
    }
    free(own);
    free(mark);
    free(unseen);
    return met;
}

/* -------------------------------------------------------------------------------------------------- converting -- */

/* This process's files, in their order. */
static void convert_share(folder *f, const share *shares, const size_t *firsts)
{
    bool *done = xmalloc((f->count + 1) * sizeof *done); /* by the first of a target */

    memset(done, 0, (f->count + 1) * sizeof *done);
    for (size_t i = 0; i < f->count; i++) {
        found *file = &f->files[i];
        if (shares[i].rank != f->s->shared->rank || !shares[i].may_write) {
            continue;
        }
        if (done[firsts[i]]) {
            free(file->why);
            file->result = FOLDER_FAILED;
            file->why = xasprintf("%s was written from another file already", file->target);
        } else if (!file->why && !is_same(f, file, &shares[i])) {
            file->result = FOLDER_FAILED;
            file->why = xstrdup("it is not the file that was found");
        } else if (!file->why) {
            tool_folder_convert(f, file);
            done[firsts[i]] = file->out != NULL;
        }
    }
    free(done);
}

static void put_result(text *t, const found *file)
{
    put_number(t, (uint64_t)file->result);
    put_string(t, file->why);
    put_string(t, file->out);
    put_string(t, file->said);
    put_number(t, file->tensors);
    put_number(t, file->written);
    put_number(t, file->checked);
    put_number(t, file->notes.kept);
    for (size_t i = 0; i < file->notes.kept; i++) {
        put_number(t, (uint64_t)file->notes.at[i].kind);
        put_number(t, file->notes.at[i].count);
        put_string(t, file->notes.at[i].path);
        put_string(t, file->notes.at[i].text);
    }
}

static void get_result(said *all, found *file)
{
    uint64_t noted;

    free(file->why);
    free(file->out);
    free(file->said);
    tool_notes_free(&file->notes);
    file->result = (int)get_number(all);
    file->why = get_string(all);
    file->out = get_string(all);
    file->said = get_string(all);
    file->tensors = get_number(all);
    file->written = get_number(all);
    file->checked = get_number(all) != 0;
    noted = get_number(all);
    for (uint64_t i = 0; i < noted; i++) {
        int32_t kind = (int32_t)get_number(all);
        uint64_t count = get_number(all);
        char *path = get_string(all);
        tool_notes_add(&file->notes, kind, path, get_string(all));
        file->notes.at[file->notes.kept - 1].count = count;
        free(path);
    }
}

/* All have what each made. @return false: all are at their end. */
static bool take_results(folder *f, const share *shares)
{
    session *s = f->s;
    text mine = {0};
    said all;
    bool met, unsynced = false;

    put_number(&mine, tool_saved_status(EXIT_OK) == EXIT_UNSYNCED);
    for (size_t i = 0; i < f->count; i++) {
        if (shares[i].may_write && shares[i].rank == s->shared->rank) {
            put_result(&mine, &f->files[i]);
        }
    }
    met = exchange(s, &mine, &all);
    for (uint32_t rank = 0; rank < s->shared->ranks && met; rank++) {
        all.next = all.at + (rank ? all.ends[rank - 1] : 0);
        unsynced = get_number(&all) || unsynced;
        for (size_t i = 0; i < f->count; i++) {
            if (shares[i].may_write && shares[i].rank == rank) {
                get_result(&all, &f->files[i]);
            }
        }
    }
    forget(&all);
    if (met && unsynced && tool_saved_status(EXIT_OK) == EXIT_OK) {
        tool_saved_unsynced(f->out);
    }
    return met;
}

int tool_folder_spread(folder *f, int status)
{
    session *s = f->s;
    share *shares = NULL;
    size_t *firsts;
    bool met = take_files(f, status, &shares) && look_at_files(f, shares);

    status = met ? EXIT_OK : EXIT_ERROR;
    for (size_t i = 0; i < f->count && status == EXIT_OK; i++) {
        status = f->files[i].why ? EXIT_OK : tool_folder_name(f, &f->files[i]);
    }
    firsts = xmalloc((f->count + 1) * sizeof *firsts);
    if (met && s->shared->together(s->shared->self, NULL, (uint64_t)status, NULL) && status == EXIT_OK) {
        assign(f, shares, firsts);
        met = decide(f, shares, firsts);
        if (met) {
            convert_share(f, shares, firsts);
            met = take_results(f, shares);
        }
        status = met ? EXIT_OK : EXIT_ERROR;
    } else {
        status = EXIT_ERROR;
    }
    free(firsts);
    free(shares);
    return status;
}

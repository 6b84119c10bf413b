/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A rule backwards, used: the places where the replacement may stand, what stood there before, and the proof. */
#include <string.h>

#include "remap/reverse/invert_private.h"

enum {
    WAYS_MOST = 256, /* to have it at all places */
    PLACES_MOST = 4096,
    GROUPS_MOST = 64, /* of a replacement */
    BIT_WORDS = LR_BACK_TEXT_MOST / 64 + 1
};

/* ---------------------------------------------------------------------------------- fitting parts of a pattern -- */

/* A set of places in a text. */
typedef struct bits {
    uint64_t words[BIT_WORDS];
} bits;

static bool has(const bits *b, size_t at)
{
    return b->words[at / 64] >> (at % 64) & 1;
}

static void put(bits *b, size_t at)
{
    b->words[at / 64] |= UINT64_C(1) << (at % 64);
}

/* The first position from `at` on that is in the set, or `end`. */
static size_t following(const bits *b, size_t at, size_t end)
{
    while (at < end) {
        uint64_t left = b->words[at / 64] >> (at % 64);
        if (left) {
            at += (size_t)__builtin_ctzll(left);
            break;
        }
        at = (at / 64 + 1) * 64;
    }
    return at < end ? at : end;
}

/* Adds what `from` has. @return whether anything is new. */
static bool unite(bits *to, const bits *from, size_t words)
{
    bool more = false;
    for (size_t i = 0; i < words; i++) {
        uint64_t both = to->words[i] | from->words[i];
        more = more || both != to->words[i];
        to->words[i] = both;
    }
    return more;
}

typedef struct text_of {
    const char *text;
    size_t length;
    uint64_t steps; /* of ends() so far */
} text_of;

/* More than any pattern needs that was not made to need many: `a+++++` takes the text's length to the power of its
 * signs. */
enum { STEPS_MOST = 20000 };

static bool same_letters(const char *a, const char *b, size_t length, bool icase)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char x = (unsigned char)a[i], y = (unsigned char)b[i];
        if (icase && x >= 'A' && x <= 'Z') {
            x |= 0x20;
        }
        if (icase && y >= 'A' && y <= 'Z') {
            y |= 0x20;
        }
        if (x != y) {
            return false;
        }
    }
    return true;
}

/* The character at a position of UTF-8 text, U+FFFD if invalid. @param length (out) its bytes. */
static uint32_t character_at(const text_of *t, size_t at, size_t *length)
{
    unsigned char first = (unsigned char)t->text[at];
    size_t more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc0 ? 1 : 0;
    uint32_t c = more == 3 ? first & 0x07u : more == 2 ? first & 0x0fu : more == 1 ? first & 0x1fu : first;
    *length = 1;
    if (first >= 0x80 && (more == 0 || at + more >= t->length)) {
        return 0xfffd;
    }
    for (size_t i = 1; i <= more; i++) {
        c = c << 6 | ((unsigned char)t->text[at + i] & 0x3fu);
    }
    *length = more + 1;
    return c;
}

/* The places where a match of the node may end that begins at one of `from`. Anchors are taken to hold: where they
 * stand in the text that is looked for is not known yet; and so is a pattern that would take too long: what is found by
 * it is put through the rule anyway. */
static void ends(text_of *t, const lr_re_node *node, const bits *from, bits *to)
{
    size_t words = t->length / 64 + 1, end = t->length;
    bits next;
    memset(to->words, ++t->steps > STEPS_MOST ? 0xff : 0, words * sizeof *to->words);
    if (t->steps > STEPS_MOST) {
        return;
    }
    switch (node->kind) {
    case LR_RE_LITERAL:
        end = node->length <= end ? end - node->length + 1 : 0;
        for (size_t i = following(from, 0, end); i < end; i = following(from, i + 1, end)) {
            if (same_letters(t->text + i, node->text, node->length, node->icase)) {
                put(to, i + node->length);
            }
        }
        return;
    case LR_RE_CLASS:
        for (size_t i = following(from, 0, end); i < end; i = following(from, i + 1, end)) {
            size_t length;
            if (lr_re_set_has(node->set, character_at(t, i, &length)) != 0) {
                put(to, i + length);
            }
        }
        return;
    case LR_RE_GROUP:
        ends(t, node->nodes[0], from, to);
        return;
    case LR_RE_CHOICE:
        for (uint32_t i = 0; i < node->count; i++) {
            ends(t, node->nodes[i], from, &next);
            (void)unite(to, &next, words);
        }
        return;
    case LR_RE_SEQUENCE: {
        bits at = *from;
        for (uint32_t i = 0; i < node->count; i++) {
            ends(t, node->nodes[i], &at, to);
            at = *to;
        }
        return;
    }
    case LR_RE_REPEAT: {
        bits at = *from;
        for (uint32_t n = 0; n < node->least && n <= t->length; n++) {
            ends(t, node->nodes[0], &at, &next);
            if (memcmp(&at, &next, words * sizeof *at.words) == 0) {
                break; /* none, or what takes no room: as often as you like */
            }
            at = next;
        }
        (void)unite(to, &at, words);
        for (uint32_t n = node->least; n < node->most; n++) {
            ends(t, node->nodes[0], &at, &next);
            if (!unite(to, &next, words)) {
                break;
            }
            at = next;
        }
        return;
    }
    default: /* nothing, an anchor */
        (void)unite(to, from, words);
        return;
    }
}

bool lr_back_group_fits(const lr_back *back, uint32_t group, const char *text, size_t length)
{
    text_of t = {.text = text, .length = length};
    bits from = {{0}}, to;
    if (group > back->group_count || !back->groups[group] || length > LR_BACK_TEXT_MOST - 1) {
        return false;
    }
    put(&from, 0);
    ends(&t, back->groups[group], &from, &to);
    return has(&to, length);
}

/* -------------------------------------------------------------------------------------------------- finding -- */

typedef struct span {
    size_t begin, end;
} span;

/* A place of the text that has the replacement's form. */
typedef struct place {
    span at;
    span groups[GROUPS_MOST]; /* by their order */
} place;

typedef struct finder {
    rec_job *job;
    const lr_back *back;
    text_of t;
    const char *part, *fixed;
    size_t part_length, fixed_length;
    lr_origins *out;
    place now;
    place *first; /* positions that do not overlap, from the left; NULL: not requested */
    uint32_t firsts;
    uint64_t tried;
} finder;

enum { FIRSTS_MOST = 16 };

void lr_origins_free(lr_origins *origins)
{
    lr_release(origins->allocator, origins->text);
    lr_release(origins->allocator, origins->list);
    origins->text = NULL;
    origins->list = NULL;
    origins->count = origins->list_room = 0;
    origins->used = 0;
    origins->room = 0;
}

static bool write_text(finder *f, const char *text, size_t length)
{
    lr_origins *out = f->out;
    if (!lr_job_grow(f->job, &out->text, out->used + length + 1, &out->room, 1)) {
        return false;
    }
    if (length) {
        memcpy(out->text + out->used, text, length);
    }
    out->used += length;
    return true;
}

static bool write_form(finder *f, const lr_back_form *s, const place *p)
{
    const lr_back *back = f->back;
    for (uint32_t i = 0; i < s->count; i++) {
        const lr_back_piece *one = &s->pieces[i];
        const span *at = one->text ? NULL : &p->groups[one->order];
        if (!(one->text                                  ? write_text(f, one->text, one->length)
              : back->fixed && one->group == back->fixed ? write_text(f, f->fixed, f->fixed_length)
                                                         : write_text(f, f->t.text + at->begin, at->end - at->begin))) {
            return false;
        }
    }
    return true;
}

static uint32_t ends_inside(const finder *f, const span *at)
{
    const char *text = f->t.text;
    uint32_t inside = 0;
    if (f->back->whole || at->begin == at->end) {
        return 0;
    }
    inside += at->begin > 0 && text[at->begin - 1] != '.' && text[at->begin] != '.';
    inside += at->end < f->t.length && text[at->end - 1] != '.' && text[at->end] != '.';
    return inside;
}

/* Whether a text has names without letters, which what came out of it has not: a rule that leaves no trace was put
 * where it does not belong. */
static bool odd(const finder *f, const char *text, size_t length)
{
    if (f->back->trace || length == 0) {
        return false;
    }
    return (text[0] == '.' && (f->t.length == 0 || f->t.text[0] != '.')) ||
           (text[length - 1] == '.' && (f->t.length == 0 || f->t.text[f->t.length - 1] != '.')) ||
           (memmem(text, length, "..", 2) && !memmem(f->t.text, f->t.length, "..", 2));
}

/* Closes the text that was written from `begin` on as an answer, if it is a new one. */
static bool add_origin(finder *f, size_t begin, uint32_t places, uint32_t inside)
{
    lr_origins *out = f->out;
    size_t length = out->used - begin;
    if (odd(f, out->text + begin, length)) {
        out->used = begin;
        return true;
    }
    for (uint64_t i = 0; i < out->count; i++) {
        lr_origin *other = &out->list[i];
        if (other->length == length && memcmp(out->text + other->at, out->text + begin, length) == 0) {
            other->inside = inside < other->inside ? inside : other->inside;
            other->places = places > other->places ? places : other->places;
            out->used = begin;
            return true;
        }
    }
    if (length > LR_BACK_TEXT_MOST - 1 || out->count == LR_BACK_ORIGINS_MOST) {
        out->overflow = true;
        out->used = begin;
        return true;
    }
    if (!lr_job_grow(f->job, &out->list, out->count + 1, &out->list_room, sizeof *out->list)) {
        return false;
    }
    if (!write_text(f, "", 1)) { /* NUL-terminated */
        return false;
    }
    out->list[out->count++] = (lr_origin){.at = begin, .length = length, .places = places, .inside = inside};
    return true;
}

/* The texts that have the pattern at one place instead of the replacement. */
static bool one_place(finder *f)
{
    const lr_back *back = f->back;
    const place *p = &f->now;
    if (++f->tried > PLACES_MOST) {
        f->out->overflow = true;
        return true;
    }
    if (back->reason) {
        f->out->lost = true;
        return true;
    }
    for (uint32_t i = 0; i < back->sources->count; i++) {
        size_t begin = f->out->used;
        if (!write_text(f, f->t.text, p->at.begin) || !write_form(f, &back->sources->list[i], p) ||
            !write_text(f, f->t.text + p->at.end, f->t.length - p->at.end) ||
            !add_origin(f, begin, 1, ends_inside(f, &p->at))) {
            return false;
        }
    }
    if (f->first && p->at.end > p->at.begin && f->firsts < FIRSTS_MOST &&
        (f->firsts == 0 || p->at.begin >= f->first[f->firsts - 1].at.end)) {
        f->first[f->firsts++] = *p;
    }
    return true;
}

/* The texts that have it at all places. */
static bool all_places(finder *f)
{
    const lr_back_forms *sources = f->back->sources;
    uint32_t choice[FIRSTS_MOST] = {0};
    uint64_t ways = 1;
    for (uint32_t i = 0; i < f->firsts; i++) {
        ways *= sources->count;
        if (ways > WAYS_MOST) {
            f->out->overflow = true;
            return true;
        }
    }
    for (uint64_t way = 0; way < ways; way++) {
        size_t begin = f->out->used, at = 0;
        uint32_t inside = 0;
        for (uint32_t i = 0; i < f->firsts; i++) {
            const place *p = &f->first[i];
            if (!write_text(f, f->t.text + at, p->at.begin - at) || !write_form(f, &sources->list[choice[i]], p)) {
                return false;
            }
            at = p->at.end;
            inside += ends_inside(f, &p->at);
        }
        if (!write_text(f, f->t.text + at, f->t.length - at) || !add_origin(f, begin, f->firsts, inside)) {
            return false;
        }
        for (uint32_t i = 0; i < f->firsts && ++choice[i] == sources->count; i++) {
            choice[i] = 0;
        }
    }
    return true;
}

/* Whether what stands at a place may be what a rule put in without a trace: between names, not within one. */
static bool between_names(const finder *f, size_t at)
{
    return at == 0 || at == f->t.length || f->t.text[at] == '.' || f->t.text[at - 1] == '.';
}

/* Goes on with the form's pieces from `index` on at a place of the text. */
static bool fit_form(finder *f, uint32_t index, size_t at)
{
    const lr_back *back = f->back;
    const lr_back_piece *one;
    span *group;
    bool must_end = back->whole || back->at_end;
    bits from = {{0}}, to;
    if (f->out->overflow) {
        return true;
    }
    if (index == back->form.count) {
        if (must_end ? at != f->t.length : !back->trace && !between_names(f, at)) {
            return true;
        }
        f->now.at.end = at;
        return one_place(f);
    }
    one = &back->form.pieces[index];
    if (one->text || one->part) {
        const char *text = one->text ? one->text : f->part;
        size_t length = one->text ? one->length : f->part_length;
        return length > f->t.length - at || memcmp(f->t.text + at, text, length) != 0 ||
               fit_form(f, index + 1, at + length);
    }
    if (one->order >= GROUPS_MOST || one->group > back->group_count || !back->groups[one->group]) {
        f->out->overflow = one->order >= GROUPS_MOST;
        return true;
    }
    group = &f->now.groups[one->order];
    if (one->again) { /* it is the same text */
        size_t length = group->end - group->begin;
        return length > f->t.length - at || memcmp(f->t.text + at, f->t.text + group->begin, length) != 0 ||
               fit_form(f, index + 1, at + length);
    }
    put(&from, at);
    ends(&f->t, back->groups[one->group], &from, &to);
    if (back->may_miss[one->group]) {
        put(&to, at);
    }
    for (size_t end = must_end && index + 1 == back->form.count ? f->t.length : at; end <= f->t.length; end++) {
        if (has(&to, end)) {
            *group = (span){at, end};
            if (!fit_form(f, index + 1, end)) {
                return false;
            }
        }
    }
    return true;
}

/* Puts an answer through the rule. @return 1 if it comes out as the text, 0 if not, -1: the job has failed. */
static int proves(finder *f, lr_matcher *matcher, const lr_origin *origin)
{
    const lr_back *back = f->back;
    const char *text = f->out->text + origin->at, *output;
    size_t length, begin, end;
    if (back->whole) {
        int found = lr_regex_match(f->job, back->regex, matcher, text, origin->length);
        if (found != 1) {
            return found;
        }
        if (back->fixed && (!lr_match_group(matcher, back->fixed, &begin, &end) || end - begin != f->fixed_length ||
                            memcmp(text + begin, f->fixed, end - begin) != 0)) {
            return 0;
        }
        lr_matcher_clear(matcher);
        if (lr_match_expand(f->job, matcher, text, back->replacement, f->part) != REC_OK) {
            return -1;
        }
    } else {
        int64_t n = lr_regex_replace(f->job, back->regex, matcher, text, origin->length, back->replacement);
        if (n <= 0) {
            return n < 0 ? -1 : 0;
        }
    }
    output = lr_matcher_output(matcher, &length);
    return length == f->t.length && memcmp(output, f->t.text, length) == 0;
}

int32_t lr_back_find(rec_job *job, const lr_back *back, lr_matcher *matcher, const char *text, size_t length,
                     const char *part, const char *fixed, lr_origins *origins)
{
    place first[FIRSTS_MOST];
    finder f = {.job = job,
                .back = back,
                .t = {.text = text, .length = length},
                .part = part ? part : "",
                .part_length = part ? strlen(part) : 0,
                .fixed = fixed ? fixed : "",
                .fixed_length = fixed ? strlen(fixed) : 0,
                .out = origins,
                .first = !back->whole && back->trace ? first : NULL};
    uint64_t kept = 0;
    origins->used = 0;
    origins->count = 0;
    origins->lost = origins->overflow = false;
    if (length >= LR_BACK_TEXT_MOST) {
        origins->overflow = true;
        return REC_OK;
    }
    if (back->needle.count && !memmem(text, length, back->needle.pieces->text, back->needle.pieces->length)) {
        return REC_OK;
    }
    for (size_t at = 0; at <= length; at++) {
        const lr_back_piece *head = back->form.pieces;
        if (at > 0 && (back->whole || back->at_start)) {
            break;
        }
        if ((!back->trace && !between_names(&f, at)) ||
            (back->form.count && head->text && (at == length || text[at] != *head->text))) {
            continue;
        }
        f.now.at.begin = at;
        if (!fit_form(&f, 0, at)) {
            return job->error.status;
        }
    }
    if (f.firsts > 1 && !back->reason && !all_places(&f)) {
        return job->error.status;
    }
    if (origins->overflow) {
        origins->count = 0; /* too many to say anything */
    }
    for (uint64_t i = 0; i < origins->count; i++) {
        lr_origin *origin = &origins->list[i];
        int proved = origin->length == length && memcmp(origins->text + origin->at, text, length) == 0
                         ? 0
                         : proves(&f, matcher, origin);
        if (proved < 0) {
            return job->error.status;
        }
        if (proved) {
            origins->list[kept++] = *origin;
        }
    }
    origins->count = kept;
    return REC_OK;
}

int lr_back_leaves(rec_job *job, const lr_back *back, lr_matcher *matcher, const char *text, size_t length)
{
    const char *output;
    size_t output_length;
    int64_t n;
    if (back->whole) {
        int found = lr_regex_match(job, back->regex, matcher, text, length);
        return found < 0 ? -1 : !found;
    }
    n = lr_regex_replace(job, back->regex, matcher, text, length, back->replacement);
    if (n <= 0) {
        return n < 0 ? -1 : 1;
    }
    output = lr_matcher_output(matcher, &output_length);
    return output_length == length && memcmp(output, text, length) == 0 ? 2 : 0;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Which of many patterns may match a text: one pass over it for what each of them needs to find there. An automaton of
 * Aho's and Corasick's, in a table by kinds of bytes. */
#include <string.h>

#include "remap/regex/regex_private.h"

enum {
    STATES_MOST = 16384, /* patterns whose literals go beyond are always tried */
    LITERAL_MOST = 32    /* bytes; what begins a literal that is needed is needed, too */
};

/* Of a transition: some literal ends there. The rest is where the row of the next state begins. */
#define OUTPUT (UINT32_C(1) << 31)

/* A pattern whose literal ends in a state; those that end there because a shorter one is its end come behind. */
typedef struct ending {
    uint32_t pattern;
    uint32_t next; /* ending + 1 */
} ending;

struct lr_sieve {
    const lr_allocator *allocator;
    uint64_t count, words; /* patterns; words of 64 of them */
    uint64_t *always;      /* patterns that need no literal */
    uint64_t *found;       /* by the last pass */
    uint8_t kind_of[256];  /* of a byte; 0: it is in no literal */
    uint32_t kinds, states;
    uint32_t *next;  /* by state and kind: a state; once it is built, a transition */
    uint32_t *first; /* by state: ending + 1 */
    uint32_t *back;  /* by state: the longest end of it that begins a literal */
    ending *endings; /* by pattern */
};

static const lr_re_node *literal_of(const lr_regex *regex)
{
    return regex->inside ? regex->inside : regex->head ? regex->head : regex->tail;
}

static uint32_t literal_length(const lr_re_node *literal)
{
    return literal->length < LITERAL_MOST ? literal->length : LITERAL_MOST;
}

void lr_sieve_free(lr_sieve *s)
{
    if (s) {
        lr_release(s->allocator, s->always);
        lr_release(s->allocator, s->found);
        lr_release(s->allocator, s->next);
        lr_release(s->allocator, s->first);
        lr_release(s->allocator, s->back);
        lr_release(s->allocator, s->endings);
        lr_release(s->allocator, s);
    }
}

static void set_bit(uint64_t *words, uint64_t i)
{
    words[i / 64] |= UINT64_C(1) << (i % 64);
}

static uint32_t *slot(const lr_sieve *s, uint32_t state, uint32_t kind)
{
    return &s->next[(uint64_t)state * s->kinds + kind];
}

/* The literals as a tree. */
static void plant(lr_sieve *s, const lr_regex *const *regexes)
{
    s->states = 1;
    for (uint64_t i = 0; i < s->count; i++) {
        const lr_re_node *literal = regexes[i] ? literal_of(regexes[i]) : NULL;
        uint32_t state = 0, length = literal ? literal_length(literal) : 0;
        if (!regexes[i]) {
            continue;
        }
        if (!literal || s->states + length > STATES_MOST) {
            set_bit(s->always, i);
            continue;
        }
        for (uint32_t c = 0; c < length; c++) {
            uint32_t *to = slot(s, state, s->kind_of[(unsigned char)literal->text[c]]);
            *to = *to ? *to : s->states++;
            state = *to;
        }
        s->endings[i] = (ending){.pattern = (uint32_t)i, .next = s->first[state]};
        s->first[state] = (uint32_t)i + 1;
    }
}

/* What the tree has no branch for goes where the longest end of what was seen goes. In the order of their depth:
 * `order` is a queue. */
static void join(lr_sieve *s, uint32_t *order)
{
    uint32_t begin = 0, end = 1;
    order[0] = 0;
    while (begin < end) {
        uint32_t state = order[begin++];
        for (uint32_t kind = 0; kind < s->kinds; kind++) {
            uint32_t *to = slot(s, state, kind), other = state ? *slot(s, s->back[state], kind) : 0;
            if (*to) {
                uint32_t *last = &s->first[*to];
                s->back[*to] = other;
                while (*last) {
                    last = &s->endings[*last - 1].next;
                }
                *last = s->first[other];
                order[end++] = *to;
            } else {
                *to = other;
            }
        }
    }
    for (uint64_t i = 0; i < (uint64_t)s->states * s->kinds; i++) {
        s->next[i] = s->next[i] * s->kinds | (s->first[s->next[i]] ? OUTPUT : 0);
    }
}

lr_sieve *lr_sieve_new(rec_job *job, const lr_regex *const *regexes, uint64_t count)
{
    lr_sieve *s = lr_zalloc(job->allocator, sizeof *s);
    uint64_t states = 1;
    uint32_t *order = NULL;
    bool good;
    if (!s) {
        (void)lr_fail_memory(job, sizeof *s);
        return NULL;
    }
    s->allocator = job->allocator;
    s->count = count;
    s->words = count / 64 + 1;
    s->kinds = 1;
    for (uint64_t i = 0; i < count; i++) {
        const lr_re_node *literal = regexes[i] ? literal_of(regexes[i]) : NULL;
        uint32_t length = literal ? literal_length(literal) : 0;
        states += length;
        for (uint32_t c = 0; c < length; c++) {
            uint8_t *kind = &s->kind_of[(unsigned char)literal->text[c]];
            *kind = *kind ? *kind : (uint8_t)s->kinds++; /* no UTF-8 has all bytes */
        }
    }
    states = states < STATES_MOST ? states : STATES_MOST;
    s->always = lr_zalloc(job->allocator, s->words * sizeof *s->always);
    s->found = lr_zalloc(job->allocator, s->words * sizeof *s->found);
    s->next = lr_zalloc(job->allocator, states * s->kinds * sizeof *s->next);
    s->first = lr_zalloc(job->allocator, states * sizeof *s->first);
    s->back = lr_zalloc(job->allocator, states * sizeof *s->back);
    s->endings = lr_zalloc(job->allocator, (count + 1) * sizeof *s->endings);
    order = lr_alloc(job->allocator, states * sizeof *order);
    good = s->always && s->found && s->next && s->first && s->back && s->endings && order;
    if (good) {
        plant(s, regexes);
        join(s, order);
    } else {
        (void)lr_fail_memory(job, states * s->kinds * sizeof *s->next);
        lr_sieve_free(s);
        s = NULL;
    }
    lr_release(job->allocator, order);
    return s;
}

void lr_sieve_pass(lr_sieve *s, const char *text, size_t length)
{
    uint32_t row = 0;
    memcpy(s->found, s->always, (size_t)(s->words * sizeof *s->found));
    for (size_t i = 0; i < length; i++) {
        uint32_t to = s->next[row + s->kind_of[(unsigned char)text[i]]];
        row = to & ~OUTPUT;
        if (to & OUTPUT) {
            for (uint32_t e = s->first[row / s->kinds]; e; e = s->endings[e - 1].next) {
                set_bit(s->found, s->endings[e - 1].pattern);
            }
        }
    }
}

uint64_t lr_sieve_next(const lr_sieve *s, uint64_t from)
{
    uint64_t word = from / 64, bits;
    if (from >= s->count) {
        return s->count;
    }
    bits = s->found[word] >> (from % 64) << (from % 64);
    while (!bits && ++word < s->words) {
        bits = s->found[word];
    }
    return bits ? word * 64 + (uint64_t)__builtin_ctzll(bits) : s->count;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The tree of a plan's destination keys, taken apart at their dots as Burn does. */
#include <stdio.h>
#include <string.h>

#include "burn/layout/layout.h"
#include "remap/plan/plan.h"

bool lr_node_index(const char *text, uint64_t length, uint64_t *index)
{
    uint64_t value = 0;
    uint64_t i = length > 1 && text[0] == '+' ? 1 : 0;
    if (length == 0) {
        return false;
    }
    for (; i < length; i++) {
        uint64_t digit = (uint64_t)(unsigned char)text[i] - '0';
        if (digit > 9 || !lr_mul(value, 10, &value) || !lr_add(value, digit, &value)) {
            return false;
        }
    }
    *index = value;
    return true;
}

const rec_layout *lr_plan_layout(rec_job *job, lr_type_ref type, int32_t minor)
{
    job->type = type;
    job->plugin = NULL;
    job->burn.minor = minor > 0 ? minor : LR_BURN_NOW;
    return lr_layout_item(job);
}

uint64_t lr_layout_named(const rec_layout *layout, const char *name, uint64_t length)
{
    bool named = layout && (layout->kind == REC_LAYOUT_STRUCT || layout->kind == REC_LAYOUT_ENUM);
    for (uint64_t i = 0; named && i < layout->count; i++) {
        if (strlen(layout->names[i]) == length && memcmp(layout->names[i], name, (size_t)length) == 0) {
            return i;
        }
    }
    return REC_UNKNOWN;
}

const rec_layout *lr_layout_below(const rec_layout *layout, const char *part, uint64_t length)
{
    uint64_t index;
    switch (layout->kind) {
    case REC_LAYOUT_STRUCT:
    case REC_LAYOUT_ENUM:
        index = lr_layout_named(layout, part, length);
        return index == REC_UNKNOWN ? NULL : rec_layout_child(layout, index);
    case REC_LAYOUT_LIST:
    case REC_LAYOUT_ARRAY:
        return lr_node_index(part, length, &index) ? rec_layout_child(layout, 0) : NULL;
    case REC_LAYOUT_TUPLE:
        return lr_node_index(part, length, &index) && index < layout->count ? rec_layout_child(layout, index) : NULL;
    case REC_LAYOUT_MAP:
        return rec_layout_child(layout, 1);
    default:
        return NULL;
    }
}

/* -------------------------------------------------------------------------------------------- finding children -- */

/* Few children are looked through; of nodes with many they are found by a hash of parent and name: one table for the
 * whole tree. */
enum { LOOKED_THROUGH = 8 };

typedef struct table {
    lr_node **slots;
    uint64_t count, room; /* room: a power of two */
} table;

static bool is_named(const lr_node *node, const char *name, uint64_t length)
{
    return node->length == length && memcmp(node->name, name, (size_t)length) == 0;
}

/* The slot of the child of that name, or a free one for it. */
static lr_node **slot_of(const table *t, const lr_node *parent, const char *name, uint64_t length)
{
    uint64_t at = lr_key_hash(name, length) ^ (uint64_t)(uintptr_t)parent * UINT64_C(0x9e3779b97f4a7c15) >> 20;
    const lr_node *node;
    while ((node = t->slots[at & (t->room - 1)]) != NULL && !(node->parent == parent && is_named(node, name, length))) {
        at++;
    }
    return &t->slots[at & (t->room - 1)];
}

/* Makes a node known to the table. */
static bool know(rec_job *job, table *t, lr_node *node)
{
    if (t->count * 2 >= t->room) {
        table wider = {.room = t->room ? t->room * 4 : 1024, .count = t->count};
        wider.slots = lr_job_zalloc(job, wider.room * sizeof *wider.slots);
        if (!wider.slots) {
            return false;
        }
        for (uint64_t i = 0; i < t->room; i++) {
            if (t->slots[i]) {
                *slot_of(&wider, t->slots[i]->parent, t->slots[i]->name, t->slots[i]->length) = t->slots[i];
            }
        }
        lr_release(job->allocator, t->slots);
        *t = wider;
    }
    *slot_of(t, node->parent, node->name, node->length) = node;
    t->count++;
    return true;
}

/* Finds or makes the child of that name. NULL: the job has failed. */
static lr_node *child(rec_job *job, rec_plan *plan, table *t, lr_node *parent, const char *name, uint64_t length,
                      uint64_t offset)
{
    lr_node *node =
        parent->child_count > LOOKED_THROUGH ? *slot_of(t, parent, name, length) : lr_node_child(parent, name, length);
    lr_node *one;
    if (node) {
        return node;
    }
    if (parent->child_count == INT32_MAX) {
        return LR_AS_NULL(rec_fail(job, REC_E_LIMIT, REC_UNKNOWN, "more than 2,147,483,647 keys in one place"));
    }
    node = lr_job_arena_alloc(job, &plan->tree, sizeof *node, 8);
    if (!node) {
        return NULL;
    }
    *node = (lr_node){
        .name = name, .parent = parent, .index = REC_UNKNOWN, .length = (uint32_t)length, .offset = (uint32_t)offset};
    if (lr_node_index(name, length, &node->index)) {
        parent->index_count++;
    }
    if (parent->last) {
        parent->last->next = node;
    } else {
        parent->first = node;
    }
    parent->last = node;
    parent->child_count++;
    one = parent->child_count == LOOKED_THROUGH + 1 ? parent->first : node; /* those before are not in the table yet */
    for (; parent->child_count > LOOKED_THROUGH && one; one = one->next) {
        if (!know(job, t, one)) {
            return NULL;
        }
    }
    return node;
}

lr_node *lr_node_child(const lr_node *node, const char *name, uint64_t length)
{
    lr_node *c = node ? node->first : NULL;
    while (c && !is_named(c, name, length)) {
        c = c->next;
    }
    return c;
}

lr_piece *lr_node_piece(const lr_node *node)
{
    lr_piece *found = node ? node->piece : NULL;
    for (const lr_node *c = node ? node->first : NULL; c && (!found || found->kept); c = c->next) {
        lr_piece *below = lr_node_piece(c);
        found = below && (!found || !below->kept) ? below : found;
    }
    return found;
}

/* ----------------------------------------------------------------------------------------------------- filling -- */

/* More levels than a record may have: nothing below could be saved. */
enum { LEVELS_MOST = 200 };

static int32_t collide(rec_job *job, rec_plan *plan, const lr_piece *a, const lr_piece *b)
{
    const char *first = a->input_count ? lr_piece_inputs(a)[0]->text : a->key;
    const char *second = b->input_count ? lr_piece_inputs(b)[0]->text : b->key;
    char from[96] = "", why[128] = "";
    if (a->source != b->source) {
        (void)snprintf(from, sizeof from, ", of %.70s", plan->sources[b->source].name);
    }
    if (*a->why || *b->why) {
        if (strcmp(a->why, b->why) == 0) {
            (void)snprintf(why, sizeof why, " (both by %.100s)", a->why);
        } else {
            (void)snprintf(why, sizeof why, " (%.50s; %.50s)", *a->why ? a->why : "as it is",
                           *b->why ? b->why : "as it is");
        }
    }
    return lr_plan_problem(job, plan, REC_PROBLEM_COLLISION, true, b->key, "Drop one of them, or give one another key.",
                           "2 sources for %.300s: %.200s and %.200s%s%s", b->key, first, second, from, why);
}

/* The key before: where its parts end but the last, and what their nodes are. Most keys begin with most of these. */
typedef struct passed {
    const lr_piece *piece;
    bool raw;
    unsigned levels; /* that may be passed again */
    struct {
        uint64_t end;
        lr_node *node;
    } level[LEVELS_MOST];
} passed;

/* Forgets the levels that a key does not have. */
static void pass(passed *before, const lr_piece *piece, bool raw)
{
    const lr_piece *other = before->piece;
    uint64_t shared = 0;
    unsigned levels = 0;
    if (other && raw == before->raw && piece->kept == other->kept) {
        while (shared < piece->length && shared < other->length && piece->key[shared] == other->key[shared]) {
            shared++;
        }
        while (levels < before->levels && before->level[levels].end < shared) {
            levels++;
        }
    }
    before->piece = piece;
    before->raw = raw;
    before->levels = levels;
}

static int32_t insert(rec_job *job, rec_plan *plan, table *t, passed *before, lr_piece *piece)
{
    lr_node *node = plan->root;
    const char *part = piece->key, *end = piece->key + piece->length;
    bool foreign = plan->foreign && !plan->type.layout;
    const rec_record *record = plan->sources[piece->source].record;
    bool raw =
        !foreign && !piece->kept && (record->root.form == REC_FORM_PATHS || (record->dotted && plan->type.layout));
    bool escaped = memchr(part, '\\', (size_t)piece->length) != NULL;
    uint64_t offset;
    if (piece->length > UINT32_MAX) {
        return rec_fail(job, REC_E_LIMIT, REC_UNKNOWN, "a key of more than 4,294,967,295 bytes");
    }
    pass(before, piece, raw);
    before->levels = escaped ? 0 : before->levels;
    if (before->levels) {
        node = before->level[before->levels - 1].node;
        part += before->level[before->levels - 1].end + 1;
    }
    for (bool last = false; !last;) {
        const char *dot = escaped ? lr_path_dot(part, end) : memchr(part, '.', (size_t)(end - part));
        const char *name;
        uint64_t length = (uint64_t)((dot ? dot : end) - part);
        last = dot == NULL;
        if (raw && lr_plan_is_raw(part, length)) {
            part += 2;
            length -= 2;
        }
        if (before->levels == LEVELS_MOST) {
            (void)rec_fail(job, REC_E_LIMIT, REC_UNKNOWN, "the key %.80s… has more than %d parts", piece->key,
                           LEVELS_MOST);
            return job->error.status;
        }
        name = part;
        offset = (uint64_t)(part - piece->key);
        if (escaped && memchr(part, '\\', (size_t)length)) {
            char *plain = lr_arena_alloc(&plan->tree, length, 1);
            if (!plain) {
                return lr_fail_memory(job, length);
            }
            length = lr_path_name(part, length, plain);
            name = plain;
        }
        node = child(job, plan, t, node, name, length, offset);
        if (!node) {
            return job->error.status;
        }
        node->in_base |= piece->kept;
        before->level[before->levels].end = (uint64_t)((dot ? dot : end) - piece->key);
        before->level[before->levels++].node = node;
        part = dot ? dot + 1 : end;
    }
    before->levels = escaped ? 0 : before->levels - 1;
    if (piece->kept) {
        node->base = node->piece = piece;
    } else if (node->piece && !node->piece->kept) {
        return collide(job, plan, node->piece, piece);
    } else {
        node->piece = piece;
    }
    return REC_OK;
}

int32_t lr_plan_tree(rec_job *job, rec_plan *plan)
{
    table t = {0};
    passed before = {0};
    int32_t status = REC_OK;
    plan->root = lr_arena_alloc(&plan->tree, sizeof *plan->root, 8);
    if (!plan->root) {
        return lr_fail_memory(job, sizeof *plan->root);
    }
    *plan->root = (lr_node){.name = "", .index = REC_UNKNOWN};
    /* The base's first, so that fields stand in its order. */
    for (int kept = 1; kept >= 0; kept--) {
        for (lr_piece *piece = plan->pieces; piece && status == REC_OK; piece = piece->next) {
            if (!piece->dead && piece->kept == kept) {
                status = insert(job, plan, &t, &before, piece);
            }
        }
    }
    lr_release(job->allocator, t.slots);
    return status;
}

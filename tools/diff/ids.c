/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Ids of parameters. Versions of Burn spell them in three ways, by one rule: 13 characters, the 10 of Burn 0.14, a
 * UUID. Those of one number name one parameter. */
#include <stdlib.h>
#include <string.h>

#include "tools/diff/diff_private.h"

/* Whether two ids name one parameter. */
static bool same_id(const char *a, const char *b)
{
    uint64_t x, y;

    return strcmp(a, b) == 0 || (rec_id_number(a, &x) && rec_id_number(b, &y) && x == y);
}

/* The one spelling of an id, as Burn 0.15 and later have it; of anything else itself. */
static void put_id(text *t, const char *id, size_t length)
{
    char spelling[REC_ID_ROOM], *own = xasprintf("%.*s", (int)length, id);
    uint64_t number;

    tool_text_put(t, rec_id_number(own, &number) ? rec_id_text(number, spelling) : own);
    free(own);
}

char *tool_diff_id_word(const item *it)
{
    const char *id = it->tensor ? rec_tensor_id(it->tensor) : NULL;
    size_t first = strcspn(it->key, ".");
    text t = {0};

    tool_text_put(&t, id ? "id " : "key ");
    put_id(&t, id ? id : it->key, id ? strlen(id) : first);
    tool_text_put(&t, id ? "" : it->key + first);
    return t.at;
}

void tool_diff_ids(pair *p)
{
    const rec_tensor *a = p->of[SIDE_A]->tensor;
    const rec_tensor *b = p->of[SIDE_B]->tensor;
    const char *x = rec_tensor_id(a), *y = rec_tensor_id(b);

    p->id = x && y ? !same_id(x, y) : x != y;
    /* A parameter of a file without ids is taken for one: only what is known differs. */
    p->bare = (x && !rec_tensor_is_parameter(b)) || (y && !rec_tensor_is_parameter(a));
}

bool tool_diff_id_counts(const comparison *c, const pair *p)
{
    return c->w->ids ? p->id : p->bare;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Where NaN and infinite numbers are: the first of each in a tensor. */
#include <math.h>
#include <stdlib.h>

#include "tools/measure/measure.h"

/* Takes the places of one chunk. @return whether there is nothing more to find. */
static bool take_places(measured_places *found, const double *values, size_t count, uint64_t first)
{
    for (size_t i = 0; i < count; i++) {
        if (isnan(values[i]) && found->nan_count < MEASURE_PLACES) {
            found->nan[found->nan_count++] = first + i;
        } else if (isinf(values[i]) && found->inf_count < MEASURE_PLACES) {
            found->inf[found->inf_count++] = first + i;
        }
    }
    return found->nan_count == MEASURE_PLACES && found->inf_count == MEASURE_PLACES;
}

rec_status tool_measure_places(const rec_tensor *tensor, const measured *m, measured_places *found)
{
    enum { CHUNK = 1 << 14 };
    uint64_t count = m->count;
    double *values;
    rec_status status = REC_OK;

    *found = (measured_places){0};
    if (!m->nan && !m->inf) {
        return REC_OK;
    }
    values = xmalloc(CHUNK * sizeof *values);
    for (uint64_t first = 0, n; first < count && status == REC_OK; first += n) {
        n = count - first < CHUNK ? count - first : CHUNK;
        status = rec_tensor_read(tensor, REC_DTYPE_F64, first, n, values);
        rec_tensor_release(tensor, first, n);
        /* All that were counted, or as many as are wanted. */
        if (status == REC_OK && (take_places(found, values, (size_t)n, first) ||
                                 (found->nan_count == m->nan && found->inf_count == m->inf))) {
            break;
        }
    }
    free(values);
    return status;
}

void tool_text_places(text *t, const rec_tensor *tensor, const uint64_t *places, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        tool_text_put(t, i ? ", " : "");
        tool_text_place(t, tensor, places[i]);
    }
}

void tool_json_places(json *j, const rec_tensor *tensor, const measured_places *found)
{
    static const char *const names[] = {"nan_at", "inf_at"};
    const uint64_t *const places[] = {found->nan, found->inf};
    const size_t counts[] = {found->nan_count, found->inf_count};

    for (size_t k = 0; k < 2; k++) {
        tool_json_array(j, names[k]);
        for (size_t i = 0; i < counts[k]; i++) {
            text place = {0};
            tool_text_place(&place, tensor, places[k][i]);
            tool_json_token(j, NULL, place.at);
            tool_text_free(&place);
        }
        tool_json_close(j, ']');
    }
}

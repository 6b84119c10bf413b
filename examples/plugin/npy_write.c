/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The writer: a visitor that takes one tensor and refuses whatever else the record holds. */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "npy.h"

struct writer {
    rec_job *job;
    rec_sink *sink;
};

static int32_t refuse(struct writer *w, const char *what)
{
    int32_t status = rec_fail_found(w->job, REC_E_UNSUPPORTED, REC_UNKNOWN, "a record that is one tensor", "%s", what);

    rec_fail_hint(w->job, "an .npy file holds nothing else: save the record in another format");
    return status;
}

static int32_t metadata(void *self, uint64_t at, const rec_scalar *key, const rec_scalar *value)
{
    (void)self, (void)at, (void)key, (void)value;
    return REC_OK; /* .npy has no place for it */
}

static int32_t scalar(void *self, uint64_t at, const rec_scalar *value)
{
    (void)at, (void)value;
    return refuse(self, "a value that is no tensor");
}

static int32_t container(void *self, uint64_t at, int32_t form, uint64_t count)
{
    (void)at, (void)form, (void)count;
    return refuse(self, "several values");
}

static int32_t key(void *self, uint64_t at, const rec_scalar *name)
{
    return scalar(self, at, name);
}

static int32_t end(void *self, uint64_t at)
{
    return scalar(self, at, NULL);
}

static int32_t tensor(void *self, uint64_t at, const rec_tensor_event *t)
{
    struct writer *w = self;
    const char *descr = NULL;
    char shape[256] = "", file[512] = "\x93NUMPY\x01";
    int used = 0, length;

    (void)at;
    for (int i = 0; i < NPY_TYPES; i++) {
        descr = npy_types[i].dtype == t->dtype ? npy_types[i].descr : descr;
    }
    if (descr == NULL || t->rank > 8) {
        return refuse(w, "a type or a rank that .npy lacks");
    }
    for (uint32_t i = 0; i < t->rank; i++) {
        used += snprintf(shape + used, sizeof shape - (size_t)used, "%s%" PRIu64, i > 0 ? ", " : "", t->shape[i]);
    }
    length =
        snprintf(file + NPY_PREFIX, sizeof file - NPY_PREFIX,
                 "{'descr': '%s', 'fortran_order': False, 'shape': (%s%s), }", descr, shape, t->rank == 1 ? "," : "");
    while ((NPY_PREFIX + length + 1) % 64 != 0) {
        file[NPY_PREFIX + length++] = ' ';
    }
    file[NPY_PREFIX + length++] = '\n';
    file[8] = (char)(length & 0xff);
    file[9] = (char)(length >> 8);

    int32_t status = rec_sink_write(w->sink, file, (uint64_t)(NPY_PREFIX + length));
    return status == REC_OK ? rec_sink_put(w->sink, &t->data) : status; /* put: not copied where it need not be */
}

int32_t npy_save(rec_job *job, rec_sink *sink)
{
    static const rec_visitor visitor = {.size = sizeof visitor,
                                        .metadata = metadata,
                                        .scalar = scalar,
                                        .list_begin = container,
                                        .map_begin = container,
                                        .key = key,
                                        .end = end,
                                        .tensor = tensor};
    struct writer w = {job, sink};

    return rec_job_walk(job, &visitor, &w);
}

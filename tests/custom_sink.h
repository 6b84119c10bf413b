/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A sink whose bytes go to a function of the test, which may fail. */
#ifndef TESTS_CUSTOM_SINK_H
#define TESTS_CUSTOM_SINK_H

#include <stdlib.h>

#include "core/io/io.h"

typedef int32_t (*custom_write_fn)(void *user, rec_job *job, const void *data, uint64_t size);

typedef struct custom_sink {
    custom_write_fn write;
    void *user;
    uint8_t tile[1 << 20]; /**< for bytes that are made in place */
} custom_sink;

static inline int32_t custom_write(rec_sink *sink, const uint8_t *data, uint64_t size)
{
    const custom_sink *self = lr_sink_self(sink);
    return self->write(self->user, lr_sink_job(sink), data, size);
}

static inline int32_t custom_space(rec_sink *sink, uint64_t want, uint8_t **room, uint64_t *size)
{
    custom_sink *self = lr_sink_self(sink);
    *room = self->tile;
    *size = want < sizeof self->tile ? want : sizeof self->tile;
    return REC_OK;
}

static inline int32_t custom_filled(rec_sink *sink, uint64_t size)
{
    return custom_write(sink, ((const custom_sink *)lr_sink_self(sink))->tile, size);
}

static inline void custom_release(rec_sink *sink)
{
    free(lr_sink_self(sink));
}

static inline rec_sink *sink_custom(rec_job *job, custom_write_fn write, void *user)
{
    static const lr_sink_ops ops = {
        .write = custom_write, .space = custom_space, .filled = custom_filled, .release = custom_release};
    custom_sink *self = malloc(sizeof *self);
    rec_sink *sink = NULL;
    if (self) {
        self->write = write;
        self->user = user;
        sink = lr_sink_of(job, "", &ops, self);
    }
    if (!sink) {
        free(self);
    }
    return sink;
}

#endif

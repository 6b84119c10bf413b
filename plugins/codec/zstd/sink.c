/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Zstandard writer: a sink that compresses into another one. */
#include "plugins/codec/zstd/codec.h"

#include <zstd.h>

typedef struct encoder {
    rec_job *job; /* a sink lives within its job */
    ZSTD_CCtx *context;
    uint8_t buffer[128 * 1024];
} encoder;

/* Compresses the input and passes the output on. @param mode ends a block or the frame, or neither. */
static int32_t pump(encoder *self, rec_sink *target, const void *data, uint64_t size, ZSTD_EndDirective mode)
{
    ZSTD_inBuffer input = {.src = data, .size = (size_t)size};
    size_t left;
    do {
        ZSTD_outBuffer output = {.dst = self->buffer, .size = sizeof self->buffer};
        int32_t status;
        left = ZSTD_compressStream2(self->context, &output, &input, mode);
        if (ZSTD_isError(left)) {
            return rec_fail(self->job, REC_E_MEMORY, REC_UNKNOWN, "zstd could not compress: %s",
                            ZSTD_getErrorName(left));
        }
        status = output.pos > 0 ? rec_sink_write(target, self->buffer, output.pos) : REC_OK;
        if (status != REC_OK) {
            return status;
        }
    } while (mode == ZSTD_e_end ? left != 0 : input.pos < input.size);
    return REC_OK;
}

static int32_t write_some(void *user, rec_sink *target, const void *data, uint64_t size)
{
    return pump(user, target, data, size, ZSTD_e_continue);
}

static int32_t finish(void *user, rec_sink *target)
{
    return pump(user, target, "", 0, ZSTD_e_end);
}

static void release(void *user)
{
    encoder *self = user;
    (void)ZSTD_freeCCtx(self->context);
    rec_job_free(self->job, self);
}

static const rec_sink_ops encoding = {
    .size = sizeof encoding,
    .write = write_some,
    .finish = finish,
    .release = release,
};

rec_sink *lr_zstd_sink(rec_job *job, rec_sink *target, int level)
{
    encoder *self = rec_job_alloc(job, sizeof *self);
    if (!self) {
        return NULL;
    }
    self->job = job;
    self->context = ZSTD_createCCtx();
    if (!self->context || ZSTD_isError(ZSTD_CCtx_setParameter(self->context, ZSTD_c_compressionLevel, level)) ||
        ZSTD_isError(ZSTD_CCtx_setParameter(self->context, ZSTD_c_checksumFlag, 1))) {
        (void)rec_fail(job, REC_E_MEMORY, REC_UNKNOWN, "out of memory while zstd was set up");
        release(self);
        return NULL;
    }
    return rec_sink_filter(job, target, &encoding, self);
}

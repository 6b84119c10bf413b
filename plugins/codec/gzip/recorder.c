/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What a recorder in gzip is made of: another recorder's reader and writer behind a filter. */
#include "plugins/codec/gzip/gzip.h"

int32_t lr_gzip_load(rec_job *job, rec_source *source, const rec_visitor *visitor, void *self, lr_gzip_reader read)
{
    rec_source *inflated = NULL;
    int32_t status = lr_gzip_source(job, source, &inflated);
    if (status == REC_OK) {
        status = read(job, inflated, visitor, self);
    }
    rec_source_release(inflated);
    return status;
}

int32_t lr_gzip_save(rec_job *job, rec_sink *sink, lr_gzip_writer write)
{
    rec_sink *packed = lr_gzip_sink(job, sink, (int)rec_job_option_int(job, lr_gzip_level.name));
    int32_t status, closed;
    if (!packed) {
        return rec_fail(job, REC_E_MEMORY, REC_UNKNOWN, "the compressor could not be set up");
    }
    status = write(job, packed);
    closed = rec_sink_close(packed);
    return status != REC_OK ? status : closed;
}

const rec_option lr_gzip_level = {
    .size = sizeof(rec_option),
    .type = REC_OPTION_INT,
    .name = "level",
    .initial = "6",
    .help = "compression, from 0 (none) to 9 (smallest)",
    .minimum = 0,
    .maximum = 9,
};

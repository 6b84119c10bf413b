/* SPDX-License-Identifier: MIT OR Apache-2.0
 * inih by its own name, opened when the first INI file is read. */
#include <ini.h>

#include "core/base/base.h"
#include "core/config/config.h"

#ifdef LR_INIH_SONAME

static __typeof__(ini_parse_stream) *parse_stream;
static const lr_late_function functions[] = {{"ini_parse_stream", &parse_stream}};
static lr_late library = {LR_INIH_SONAME, functions, 1, false};
LR_LATE_NOTE(note, "configuration", LR_INIH_SONAME);

int32_t lr_inih_open(rec_job *job)
{
    return lr_late_need(job, &library, "INI files");
}

int ini_parse_stream(ini_reader reader, void *stream, ini_handler handler, void *user)
{
    return parse_stream(reader, stream, handler, user);
}

#else

int32_t lr_inih_open(rec_job *job)
{
    (void)job;
    return REC_OK;
}

#endif

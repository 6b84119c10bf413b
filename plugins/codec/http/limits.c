/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The limits on what a server may cost. */
#include "plugins/codec/http/limits.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const lr_http_limits standard = {.speed = 1024, .seconds = 60, .tries = 10, .bytes = UINT64_C(64) << 30};

/* Parses digits at `*text` and moves past them. Returns false for no digits, or a number larger than `most`. */
static bool read_digits(const char **text, uint64_t most, uint64_t *number)
{
    const char *begin = *text;
    *number = 0;
    for (; **text >= '0' && **text <= '9'; (*text)++) {
        uint64_t digit = (uint64_t)(**text - '0');
        if (*number > (most - digit) / 10) {
            return false;
        }
        *number = *number * 10 + digit;
    }
    return *text > begin;
}

static bool read_number(const char *text, uint64_t most, uint64_t *number)
{
    return read_digits(&text, most, number) && !*text;
}

/* BYTES or BYTES/SECONDS. */
static bool read_speed(const char *text, lr_http_limits *limits)
{
    if (!read_digits(&text, LONG_MAX, &limits->speed)) {
        return false;
    }
    if (*text == '/' && !(text++, read_digits(&text, LONG_MAX, &limits->seconds) && limits->seconds)) {
        return false;
    }
    limits->seconds = limits->speed ? limits->seconds : 0;
    return !*text;
}

static int32_t fail_value(rec_job *job, const char *variable, const char *value, const char *wanted)
{
    return rec_fail(job, REC_E_CONFIG, REC_UNKNOWN, "the environment variable %s is \"%.40s\"; expected %s", variable,
                    value, wanted);
}

int32_t lr_http_limits_read(rec_job *job, lr_http_limits *limits)
{
    const struct {
        const char *name;
        uint64_t most, *number;
    } numbers[] = {{"LIBRECORD_HTTP_TRIES", UINT64_MAX, &limits->tries},
                   {"LIBRECORD_HTTP_SIZE", UINT64_MAX, &limits->bytes},
                   {"LIBRECORD_HTTP_TIME", LONG_MAX / 1000, &limits->time}};
    const char *speed = secure_getenv("LIBRECORD_HTTP_SPEED");
    *limits = standard;
    if (speed && *speed && !read_speed(speed, limits)) {
        return fail_value(job, "LIBRECORD_HTTP_SPEED", speed, "BYTES or BYTES/SECONDS, such as 1024/60");
    }
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        const char *value = secure_getenv(numbers[i].name);
        if (value && *value && !read_number(value, numbers[i].most, numbers[i].number)) {
            return fail_value(job, numbers[i].name, value, "a whole number");
        }
    }
    return REC_OK;
}

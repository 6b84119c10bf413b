/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the examples of the manual for programs share: a record, and a line
 * of output for each example. */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>

#include <librecord.h>

static int failures;

static void expect(const char *name, rec_status status)
{
    printf("%s - %s\n", status == REC_OK ? "ok" : "not ok", name);
    if (status != REC_OK) {
        failures++;
        printf("# %s: %s\n", rec_status_name(status), rec_error_message());
    }
}

static rec_record *model(void)
{
    static const float weight[6] = {1, 2, 3, 4, 5, 6};
    static const uint64_t shape[2] = {3, 2};
    rec_record *record = rec_record_new(NULL);
    assert(rec_set_f32(record, "linear.weight", weight, 2, shape) ==
           REC_OK);
    assert(rec_set_f32(record, "linear.bias", weight, 1, shape) == REC_OK);
    return record;
}

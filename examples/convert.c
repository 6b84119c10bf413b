/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Convert a file, tensor by tensor: files larger than memory pass. The input is recognised by its content, the output
 * by its name; a bar shows how far it is, and a report what was worth a word (floats that overflowed, say).
 *
 *     convert old.mpk new.mpk.gz half */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <librecord.h>

/** Called on the way. A program with a Cancel button returns 1 here when it was pressed. */
static int32_t show_progress(void *user, const rec_progress *progress)
{
    uint64_t *calls = user;

    *calls += 1;
    if (progress->total != REC_UNKNOWN && progress->total > 0) {
        fprintf(stderr, "\r%s %3.0f %%", progress->operation, 100.0 * (double)progress->done / (double)progress->total);
    }
    return 0;
}

int main(int argc, char **argv)
{
    rec_context *context = NULL;
    rec_recorder *from = NULL, *to = NULL;
    rec_precision precision;
    uint64_t calls = 0;
    int status = EXIT_FAILURE;

    if (argc != 4 || (precision = rec_precision_from_name(argv[3])) < 0) {
        fprintf(stderr, "usage: convert IN OUT keep|double|full|half\n");
        return EXIT_FAILURE;
    }

    /* A context of one's own carries callbacks, limits and plugin folders; NULL: memory from malloc. */
    if (!(context = rec_context_new(NULL))) {
        goto done;
    }
    rec_context_set_progress(context, show_progress, &calls);

    /* Opened with KEEP, the input's values pass as they are; `to` then gives them its precision. */
    if (!(from = rec_open_recorder_in(context, "Auto", REC_PRECISION_KEEP)) ||
        !(to = rec_open_recorder_in(context, "Auto", precision))) {
        goto done;
    }
    if (rec_convert(from, argv[1], to, argv[2], NULL) != REC_OK) {
        goto done;
    }
    if (calls > 0) {
        fprintf(stderr, "\n");
    }
    printf("%s -> %s at %s precision, %" PRIu64 " notes\n", argv[1], argv[2], rec_precision_name(precision),
           rec_report_count());
    for (uint64_t i = 0; i < rec_report_count() && rec_report_note(i); i++) {
        printf("  %s: %s\n", rec_report_note(i)->path, rec_report_note(i)->text);
    }
    status = EXIT_SUCCESS;

done:
    if (status != EXIT_SUCCESS) {
        fprintf(stderr, "convert: %s\n", rec_error_message());
    }
    rec_close_recorder(to);
    rec_close_recorder(from);
    rec_context_free(context);
    return status;
}

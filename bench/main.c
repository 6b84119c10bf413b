/* SPDX-License-Identifier: MIT OR Apache-2.0
 * bench MEGABYTES: reads one operation a line, answers each with "seconds cpu peak anonymous" (of the operation; MiB of
 * this process so far, VmHWM; and RssAnon while the record was there). bench/run is its only user. */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

static span nothing(const model *m, char *const *words)
{
    (void)m, (void)words;
    return (span){0};
}

static const operation plain_operations[] = {
    {"nothing", nothing}, {"transpose", transposes}, {"write-scalars", write_scalars}, {0}};

static const operation *const tables[] = {plain_operations,   raw_operations,  ours_operations,
                                          foreign_operations, edit_operations, process_operations};

static span run(const model *m, char *const *words)
{
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
        for (const operation *o = tables[t]; o->name; o++) {
            if (strcmp(o->name, words[0]) == 0) {
                return o->run(m, words);
            }
        }
    }
    errx(2, "no operation %s", words[0]);
}

int main(int argc, char **argv)
{
    model m = model_new(argc > 1 ? strtoul(argv[1], NULL, 10) : 0);
    char *line = NULL, *next, nil[] = "";
    size_t room = 0, count;

    while (getline(&line, &room, stdin) > 0) {
        char *words[WORDS];
        count = 0;
        for (char *word = strtok_r(line, " \n", &next); word; word = strtok_r(NULL, " \n", &next)) {
            if (count == WORDS) {
                errx(2, "more than %d words", WORDS);
            }
            words[count++] = word;
        }
        if (count == 0) {
            continue;
        }
        while (count < WORDS) {
            words[count++] = nil;
        }
        live_anonymous = status_mib("RssAnon");
        span took = run(&m, words);
        printf("%.9f %.9f %.3f %.3f\n", took.seconds, took.cpu, status_mib("VmHWM"), live_anonymous);
        (void)fflush(stdout);
    }
    free(line);
    model_free(&m);
    return 0;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Turns standard input into a C header with one byte array, for bytes.c. Needs no librecord.
 *
 *     embed NAME < FILE > NAME.h */

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int c;
    size_t count = 0;

    if (argc != 2) {
        fprintf(stderr, "usage: embed NAME < FILE > NAME.h\n");
        return EXIT_FAILURE;
    }
    printf("/* Made by embed. */\nstatic const unsigned char %s[] = {", argv[1]);
    while ((c = getchar()) != EOF) {
        printf("%s%s%d", count > 0 ? "," : "", count % 20 == 0 ? "\n    " : " ", c);
        count++;
    }
    printf("\n};\n");
    if (ferror(stdin) || fflush(stdout) != 0 || count == 0) {
        fprintf(stderr, "embed: nothing read, or a read or write failed\n");
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}

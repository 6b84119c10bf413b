/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Calls freestanding.c from an ordinary program: `freestanding 1 2 3` prints the layer's outputs. */

#include <stdio.h>
#include <stdlib.h>

#include "freestanding.h"

int main(int argc, char **argv)
{
    float input[FORWARD_INPUTS], output[FORWARD_OUTPUTS];

    if (argc != FORWARD_INPUTS + 1) {
        fprintf(stderr, "usage: freestanding X X X\n");
        return EXIT_FAILURE;
    }
    for (int i = 0; i < FORWARD_INPUTS; i++) {
        input[i] = strtof(argv[i + 1], NULL);
    }
    forward(input, output);
    for (int i = 0; i < FORWARD_OUTPUTS; i++) {
        printf("%s%.9g", i ? " " : "", (double)output[i]);
    }
    printf("\n");
    return EXIT_SUCCESS;
}

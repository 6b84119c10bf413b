/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A model without a library, a heap or an operating system: a linear layer over C structs.
 *
 *     record embed tiny.mpk --structs --output tiny_structs.h --name tiny
 *     cc -std=c99 -Os -ffreestanding -c freestanding.c
 *
 * The object file refers to nothing outside itself. freestanding_main.c calls it. */

#include "freestanding.h"
#include "tiny_structs.h"

/* What the program relies on, checked while it is compiled: the model is a Linear with a bias. */
typedef char weight_is_a_matrix[TINY_LINEAR_WEIGHT_RANK == 2 ? 1 : -1];
typedef char inputs_fit[TINY_LINEAR_WEIGHT_DIM_0 == FORWARD_INPUTS ? 1 : -1];
typedef char outputs_fit[TINY_LINEAR_WEIGHT_DIM_1 == FORWARD_OUTPUTS ? 1 : -1];
typedef char bias_fits[TINY_LINEAR_BIAS_COUNT == FORWARD_OUTPUTS ? 1 : -1];

void forward(const float *input, float *output)
{
    const float *weight = tiny.linear.weight.data; /* Burn's Linear: [inputs, outputs] */
    int i, j;

    for (j = 0; j < FORWARD_OUTPUTS; j++) {
        float sum = tiny.linear.bias.data[j];
        for (i = 0; i < FORWARD_INPUTS; i++) {
            sum += input[i] * weight[i * FORWARD_OUTPUTS + j];
        }
        output[j] = sum;
    }
}

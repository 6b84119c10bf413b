/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What freestanding.c offers. */
#ifndef FREESTANDING_H
#define FREESTANDING_H

#define FORWARD_INPUTS 3
#define FORWARD_OUTPUTS 2

/* output = input × weight + bias */
void forward(const float *input, float *output);

#endif

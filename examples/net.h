/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The network of import.c and linked.c: what its record looks like, and its forward pass. The names of types matter:
 * the PyTorch adapter knows a Linear and a LayerNorm by theirs. net.rs says the same in Rust. */
#ifndef NET_H
#define NET_H

#include <math.h>
#include <stdio.h>

#include <librecord.h>

#define LINEAR_FIELDS(F, T) F(T, PARAM, weight, 2) F(T, OPTION_PARAM, bias, 1)
REC_DEFINE_STRUCT(Linear, LINEAR_FIELDS)
#define LAYER_NORM_FIELDS(F, T) F(T, PARAM, gamma, 1, 4) F(T, PARAM, beta, 1, 4)
REC_DEFINE_STRUCT(LayerNorm, LAYER_NORM_FIELDS)
#define NET_FIELDS(F, T) F(T, CHILD, fc1, Linear) F(T, CHILD, norm, LayerNorm) F(T, CHILD, fc2, Linear)
REC_DEFINE_STRUCT(Net, NET_FIELDS)

enum { INPUTS = 3, HIDDEN = 4, OUTPUTS = 2 };

/** y = x W + b with Burn's [in, out]; PyTorch stores [out, in]. */
static inline void linear(const Linear *layer, const float *x, float *y, uint64_t inputs, uint64_t outputs)
{
    for (uint64_t o = 0; o < outputs; o++) {
        y[o] = layer->bias.data ? layer->bias.data[o] : 0.0F;
        for (uint64_t i = 0; i < inputs; i++) {
            y[o] += x[i] * layer->weight.data[i * outputs + o];
        }
    }
}

/** Normalises, then lets through what is positive. */
static inline void norm_relu(const LayerNorm *layer, float *x)
{
    float mean = 0, variance = 0;

    for (int i = 0; i < HIDDEN; i++) {
        mean += x[i] / HIDDEN;
    }
    for (int i = 0; i < HIDDEN; i++) {
        variance += (x[i] - mean) * (x[i] - mean) / HIDDEN;
    }
    for (int i = 0; i < HIDDEN; i++) {
        x[i] = (x[i] - mean) / sqrtf(variance + 1e-5F) * layer->gamma.data[i] + layer->beta.data[i];
        x[i] = x[i] > 0 ? x[i] : 0;
    }
}

/** Whether the loops above stay within a layer's data. */
static inline int fits(const Linear *layer, uint64_t inputs, uint64_t outputs)
{
    return layer->weight.shape[0] == inputs && layer->weight.shape[1] == outputs &&
           (!layer->bias.data || layer->bias.count == outputs);
}

/** Binds a record and runs it on (1, 2, 3). @return 0; -1 after a message on standard error. */
static inline int print_forward(const rec_record *record)
{
    const float x[INPUTS] = {1, 2, 3};
    float hidden[HIDDEN], y[OUTPUTS];
    Net net;
    rec_binding *binding = rec_bind(record, &Net_type, &net);

    if (!binding) {
        fprintf(stderr, "%s\n", rec_error_message());
        return -1;
    }
    if (!fits(&net.fc1, INPUTS, HIDDEN) || !fits(&net.fc2, HIDDEN, OUTPUTS)) {
        rec_binding_free(binding);
        fprintf(stderr, "this program knows a net of %d, %d and %d only\n", INPUTS, HIDDEN, OUTPUTS);
        return -1;
    }
    linear(&net.fc1, x, hidden, INPUTS, HIDDEN);
    norm_relu(&net.norm, hidden);
    linear(&net.fc2, hidden, y, HIDDEN, OUTPUTS);
    printf("net(1, 2, 3) = %.6f, %.6f\n", (double)y[0], (double)y[1]);
    rec_binding_free(binding);
    return 0;
}

#endif

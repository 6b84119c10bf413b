/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The initializers of a graph, and what its nodes say about them. */
#ifndef ONNX_GRAPH_H
#define ONNX_GRAPH_H

#include "common/text.h"
#include "onnx/protobuf.h"

/** How nodes use a matrix: as the second operand of a product. */
enum { USED_IN_OUT = 1, USED_OUT_IN = 2 };

enum { GRAPH_NONE = UINT32_MAX };

/** A name in the graph: of an initializer, or of a value that a node makes of one. */
typedef struct graph_value {
    uint64_t name, length;        /**< in `names` */
    uint64_t at, end;             /**< of the TensorProto */
    uint32_t of;                  /**< the initializer that Identity or Transpose gets; GRAPH_NONE: it is one */
    int32_t flipped;              /**< by Transpose */
    uint32_t used;                /**< USED_…, of an initializer */
    uint64_t scope, scope_length; /**< the name it gets from the node that uses it, in `names`; length 0: none */
    uint32_t same;                /**< the next value with this hash */
} graph_value;

typedef struct graph {
    rec_job *job;
    rec_source *source;
    graph_value *values;
    uint32_t count, room;
    uint32_t *heads; /**< by hash, as many as there is room for values */
    uint32_t head_count;
    uint64_t seed[2]; /**< of the hash: random, so that no file can have names that collide */
    text names;
    text read;          /**< the text that was read last */
    uint64_t constants; /**< nodes with tensors, and graphs within nodes */
} graph;

/** Reads a GraphProto. @param g (out) to be freed with graph_free(). */
rec_status graph_read(graph *g, rec_job *job, rec_source *source, pb_cursor c);
void graph_free(graph *g);
/** Finds a value by its name. @return its place, or GRAPH_NONE. */
uint32_t graph_find(const graph *g, const char *name, uint64_t length);

#endif

/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A layout as text, for the files of this room. */
#ifndef LR_LAYOUT_PRIVATE_H
#define LR_LAYOUT_PRIVATE_H

#include "burn/layout/layout.h"

/* layout_text.c */

/** Of the text of a layout: a node takes a hundred times what names it, so this is some 40 MiB of nodes at most. */
enum { LR_LAYOUT_TEXT_MOST = 256 << 10 };
/** A layout as text, in the job's layouts. NULL: the job has failed. */
const char *lr_layout_print(rec_job *job, const rec_layout *layout);

#endif

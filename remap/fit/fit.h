/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The destination from a plan's tree: fitted to a type, or without one to module rules and to what shapes show.
 * It never makes or renames a piece, and reads no bytes: the tensors it places are deferred.
 * The record is the caller's, and all that is placed in it; lines and problems are the plan's. */
#ifndef LR_FIT_H
#define LR_FIT_H

#include "burn/layout/layout.h"
#include "remap/plan/plan.h"

/** Problems of modules: one for all with the same key. */
typedef struct lr_doubts {
    struct lr_doubt *last;
    uint64_t count, more; /**< listed, and modules beyond those */
} lr_doubts;

/** What the walks over the tree share. */
typedef struct lr_fitter {
    rec_job *job;
    rec_plan *plan;
    rec_record *record;
    lr_matcher *matcher;
    lr_place_path path;
    const rec_tensor *last; /**< made, or NULL */
    struct {
        const char *text;
        uint32_t length;
    } names[64];             /**< of the record: lr_fit_name() */
    uint64_t clashes;        /**< modules with inconsistent tensors, reported in a note */
    const char *first_clash; /**< message for the first, in the plan's arena */
    lr_doubts misfits;       /**< modules that lack fields of the type that their name suggests */
    uint64_t lacking;        /**< tensors that PyTorch's modules compute with and Burn's have no field for */
    const lr_piece *first_lacking;
    const char *lacking_module; /**< of the first */
    unsigned moved;             /**< levels above the place whose number changed when a gap was closed */
} lr_fitter;

/** Whether what is absent is left to the caller (missing.c). */
bool lr_fit_is_partial(const rec_plan *plan);
/** By a type (typed.c). */
int32_t lr_plan_typed(lr_fitter *f, const rec_layout *layout);
/** Reports the inconsistent modules in one note (modules.c). */
int32_t lr_fit_report_clashes(lr_fitter *f);
/** Makes problems of modules that have not the fields of what they are named (modules.c). */
int32_t lr_fit_report_misfits(lr_fitter *f);
/** Makes a problem of the tensors that PyTorch's modules compute with and Burn's have no field for (modules.c). */
int32_t lr_fit_report_lacking(lr_fitter *f);
/** Without one (untyped.c). */
int32_t lr_plan_untyped(lr_fitter *f);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_OFFCPU_LOAD_H
#define PFR_VIEW_OFFCPU_LOAD_H
/* Interface of offcpu_load.c; offcpu_parts.h describes how the files work together. */
#include "model/open/model_watch.h"
#include "view/offcpu/offcpu_parts.h"

/* What model_open_watched needs to make thread states in the same pass. */
struct model_watch offcpu_watch(struct offcpu *o);

/* is_watched: thread states were made while the model was. */
pfr_status offcpu_load(struct offcpu *o, bool is_watched, pfr_error *err);
uint32_t offcpu_stack_of(const struct offcpu *o, uint32_t sample);
void offcpu_free(struct offcpu *o);

#endif

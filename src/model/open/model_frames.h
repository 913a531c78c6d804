/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_OPEN_MODEL_FRAMES_H
#define PFR_MODEL_OPEN_MODEL_FRAMES_H
/* Interface of model_frames.c, which describes how it works. */
#include "model/open/model_parts.h"

pfr_status frame_numbers_init(struct frame_numbers *n, struct pfr_model *m, pfr_error *err);
void frame_numbers_free(struct frame_numbers *n);
pfr_status frame_number(struct frame_numbers *n, uint32_t frame, uint32_t *id, pfr_error *err);
pfr_status frame_number_limited(struct frame_numbers *n, uint32_t *id, pfr_error *err);

/* Each adds a row, or finds an equal row. The builder (model_build.c) also uses them. */
pfr_status model_put_symbol(struct pfr_model *m, const pfr_model_symbol *symbol, bool inlined, uint32_t *id,
                            pfr_error *err);
pfr_status model_put_frame(struct pfr_model *m, const pfr_model_frame *frame, uint32_t *id, pfr_error *err);

#endif

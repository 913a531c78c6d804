/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_PROFILE_FRAME_CLASSES_H
#define PFR_MODEL_PROFILE_FRAME_CLASSES_H
/* Interface of profile_frame_classes.c, which describes how it works. */
#include "model/profile/result/profile_frames.h"

/* The number of a frame's kind. `frame` may include NODE_APART. */
pfr_status profile_frames_kind(struct frames_of *f, uint32_t frame, uint32_t *kind, pfr_error *err);

#endif

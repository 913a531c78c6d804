/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_INFO_HITS_H
#define PFR_VIEW_INFO_HITS_H
/* Interface of info_hits.c; that file describes how it works. */
#include "view/info/info_parts.h"

/* Adds the objects hit by samples; reads the recording twice. */
pfr_status object_list_hits(struct object_list *list, pfr_reader *reader, pfr_error *err);

#endif

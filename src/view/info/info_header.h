/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_INFO_HEADER_H
#define PFR_VIEW_INFO_HEADER_H
/* Interface of info_header.c; that file describes how it works. */
#include "view/info/info_parts.h"

/* Prints the header; a stream is read up to the end of its features. */
pfr_status info_header(struct info *info, pfr_error *err);

#endif

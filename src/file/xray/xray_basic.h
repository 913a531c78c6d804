/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_XRAY_BASIC_H
#define PFR_FILE_XRAY_BASIC_H
/* The record loop of basic logs. */
#include "file/xray/xray.h"

pfr_status basic_next(pfr_reader *r, pfr_record *rec, pfr_error *err);
void basic_learn(pfr_reader *r);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EDIT_QUIPPER_WRITE_H
#define PFR_EDIT_QUIPPER_WRITE_H
/* pfr_convert to a PerfDataProto. */
#include <perfray/edit.h>

pfr_status quipper_write(pfr_reader *reader, const pfr_edit_options *options, pfr_edit_counts *counts, pfr_error *err);

#endif

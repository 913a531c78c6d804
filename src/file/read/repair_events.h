/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_REPAIR_EVENTS_H
#define PFR_FILE_REPAIR_EVENTS_H
/* What other files use of repair_events.c, which says how it works. */
#include "file/read/recording.h"

pfr_status mend_events(pfr_reader *r, pfr_error *err); /* repair_events.c: once the features are known */

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_TOOL_STORE_PLACE_H
#define PERFRAY_TOOL_STORE_PLACE_H
/*
 * The store to use: `given`, the argument of --store; otherwise PERFRAY_STORE; otherwise perfray/store.db in the user's
 * data folder (XDG_DATA_HOME, or .local/share below HOME). NULL: no store was named, and there is no data folder. Valid
 * until the next call.
 */
#include <stdbool.h>

const char *store_place(const char *given);

/* Makes the folders of the default store; does nothing for another place. */
void store_place_prepare(const char *place);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_TOOL_STORE_PLACE_H
#define PERFRAY_TOOL_STORE_PLACE_H
/*
 * The store that is meant: the one of --store, else of PERFRAY_STORE, else perfray/store.db in the user's data folder
 * (XDG_DATA_HOME, or .local/share below HOME). NULL: no name was given, and there is no such folder. Valid until the
 * next call.
 */
#include <stdbool.h>

const char *store_place(const char *given);

/* Makes the folders of a store that store_place() named by itself; does nothing for others. */
void store_place_prepare(const char *place);

#endif

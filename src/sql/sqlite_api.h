/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SQL_SQLITE_API_H
#define PFR_SQL_SQLITE_API_H
/* The SQLite API. The library uses the SQLite with which it is linked; the loadable extension uses the SQLite of the
   program that loads it. */
#ifdef PFR_SQL_EXTENSION
#include <sqlite3ext.h>
extern const sqlite3_api_routines *sqlite3_api;
#else
#include <sqlite3.h>
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_STORE_NATIVE_TYPES_H
#define PFR_STORE_NATIVE_TYPES_H
/* The types of the Native format as a table, for the encoder and the decoder. */
#include <stdint.h>

struct native_type_row {
    const char *name;
    uint8_t width; /* bytes of a value; 0: a text */
    uint8_t is_list;
};

extern const struct native_type_row native_types[];

#endif

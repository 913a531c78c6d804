/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_MD5_H
#define PFR_BASE_MD5_H
/* MD5 (RFC 1321), where another format asks for it: it protects nothing. */
#include <stddef.h>
#include <stdint.h>

void md5(const void *bytes, size_t length, uint8_t digest[16]);
/* The first eight bytes, the first of them the highest. */
uint64_t md5_prefix(const void *bytes, size_t length);

#endif

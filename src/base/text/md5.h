/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_MD5_H
#define PFR_BASE_MD5_H
/* MD5 (RFC 1321), only where another format requires it; not used for security. */
#include <stddef.h>
#include <stdint.h>

void md5(const void *bytes, size_t length, uint8_t digest[16]);
/* The first eight bytes of the digest as a big-endian number. */
uint64_t md5_prefix(const void *bytes, size_t length);

#endif

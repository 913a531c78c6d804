/* SPDX-License-Identifier: Apache-2.0 */
/* MD5: the examples of RFC 1321, and texts of all lengths around the block boundaries. */
#include "../test.h"

#include "base/text/md5.h"

#include <stdio.h>
#include <string.h>

static void assert_digest(const char *text, const char *expected) {
    uint8_t digest[16];
    char shown[33];
    md5(text, strlen(text), digest);
    for (size_t i = 0; i < sizeof digest; i++)
        snprintf(shown + 2 * i, 3, "%02x", digest[i]);
    assert_string_equal(shown, expected);
}

TEST(md5_makes_what_its_definition_shows) {
    assert_digest("", "d41d8cd98f00b204e9800998ecf8427e");
    assert_digest("a", "0cc175b9c0f1b6a831c399e269772661");
    assert_digest("abc", "900150983cd24fb0d6963f7d28e17f72");
    assert_digest("message digest", "f96b697d7cb7938d525a2f31aaf161d0");
    assert_digest("abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b");
    assert_digest("12345678901234567890123456789012345678901234567890123456789012345678901234567890",
                  "57edf4a22be3c955ac49da2e2107b67a");
    assert_true(md5_prefix("", 0) == 0xd41d8cd98f00b204u);
}

/* The digest of the digests of texts with 0 to 200 letters, computed with Python's hashlib. */
TEST(md5_of_every_length_around_a_block) {
    char text[200];
    uint8_t all[201 * 16], digest[16];
    memset(text, 'x', sizeof text);
    for (size_t length = 0; length <= sizeof text; length++)
        md5(text, length, all + 16 * length);
    md5(all, sizeof all, digest);
    static const uint8_t expected[16] = {0x85, 0xa5, 0xe6, 0x59, 0xef, 0x84, 0xb2, 0x05,
                                         0x87, 0xf1, 0xe9, 0xa4, 0x09, 0xab, 0x70, 0xc7};
    assert_memory_equal(digest, expected, sizeof digest);
}

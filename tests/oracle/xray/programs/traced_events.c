/* SPDX-License-Identifier: Apache-2.0 */
/* Logs arguments of both signs and all sizes, and events. It is built without optimisation: see docs/xray-format.md on
   runtimes that log events. */
#include "said.h"

TRACED_WITH_ARGUMENT long divide(long n) {
    say_number("+divide", n);
    const long result = n / 3;
    say("-divide");
    return result;
}

TRACED void mark(const char *text, size_t length) {
    char said[160];
    say("+mark");
    __xray_customevent(text, length);
    snprintf(said, sizeof said, "!%.*s", (int)length, text);
    say(said);
    say("-mark");
}

UNSEEN static void *program(void *unused) {
    static const char text[] = "abcdefghijklmnopqrstuvwxyz";
    long sum = 0;
    for (long i = -8; i < 8; i++) {
        sum += divide(i * 1000000007L) + divide(i);
        mark(text, (size_t)(i + 9));
    }
    return sum ? unused : NULL;
}

UNSEEN int main(void) {
    return traced(program);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Throws exceptions through traced frames, and counts its own calls (recorded_account.h). */
#include "recorded_account.h"

#include <stdexcept>

static volatile int sink;

CALLED int leaf(int x) {
    HERE(LEAF);
    return x * 3 + sink;
}

CALLED int throws(int x) {
    HERE(THROWS);
    if (x % 2)
        throw std::runtime_error("odd");
    return leaf(x);
}

CALLED int middle(int x) {
    HERE(MIDDLE);
    return throws(x) + leaf(x);
}

CALLED int catches(int x) {
    HERE(CATCHES);
    try {
        return middle(x);
    } catch (const std::runtime_error &) {
        return leaf(-x);
    }
}

NOT_TRACED int main(int argc, char **argv) {
    const long count = argc > 2 ? strtol(argv[2], nullptr, 10) : 1000;
    account_open();
    for (long i = 0; i < count; i++)
        sink += catches(static_cast<int>(i));
}

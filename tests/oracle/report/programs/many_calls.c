/* SPDX-License-Identifier: Apache-2.0 */
/* Makes stacks of many kinds, the same on each run: direct and mutual recursion, a function with several callers,
   library functions that call back, system calls. Usage: `calls ROUNDS`. */
#include <stdio.h>
#include <stdlib.h>

#define APART __attribute__((noinline))

volatile unsigned long sink;

APART void spin(int rounds) {
    for (int i = 0; i < rounds * 1000; i++)
        sink += (unsigned long)i;
}

APART void left(int rounds) {
    spin(rounds);
    for (int i = 0; i < rounds * 500; i++)
        sink ^= (unsigned long)i;
}

APART void right(int rounds) {
    spin(rounds / 2);
    for (int i = 0; i < rounds * 300; i++)
        sink ^= (unsigned long)i;
}

APART void deeper(int depth) {
    if (depth == 0) {
        left(3);
        return;
    }
    for (int i = 0; i < 300; i++)
        sink += (unsigned long)i;
    deeper(depth - 1);
    if (depth % 3 == 0)
        right(2);
    sink++;
}

APART void odd(int depth);

APART void even(int depth) {
    if (depth <= 0) {
        right(4);
        return;
    }
    odd(depth - 1);
    spin(1);
}

APART void odd(int depth) {
    if (depth <= 0) {
        left(4);
        return;
    }
    even(depth - 2);
    left(1);
}

static int compare(const void *a, const void *b) {
    for (int i = 0; i < 30; i++)
        sink += (unsigned long)i;
    return *(const int *)a - *(const int *)b;
}

APART void sort(void) {
    int numbers[3000];
    for (int i = 0; i < 3000; i++)
        numbers[i] = i * 7919 % 3001;
    qsort(numbers, 3000, sizeof *numbers, compare);
}

APART void print(void) {
    FILE *to = fopen("/dev/null", "w");
    for (int i = 0; to && i < 2000; i++) {
        fprintf(to, "%d\n", i);
        fflush(to);
    }
    if (to)
        fclose(to);
}

int main(int count, char **words) {
    const int rounds = count > 1 ? atoi(words[1]) : 40;
    for (int i = 0; i < rounds; i++) {
        deeper(i % 12);
        even(i % 9);
        sort();
        print();
    }
    return sink == 1;
}

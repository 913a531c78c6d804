/* SPDX-License-Identifier: Apache-2.0 */
/* Introsort (quicksort that changes to heapsort for parts nested too deep) with comparisons that
   the compiler inlines. Rows that compare equal are identical, so the result does not depend on the
   algorithm. */
#include "export/page/page_rows_sort.h"

#define FEW 16u

typedef bool row_order(const struct page_row *x, const struct page_row *y);
#define INLINED static inline __attribute__((always_inline))
#define BEFORE(member)                                                                                                 \
    if (x->member != y->member)                                                                                        \
        return x->member < y->member;

INLINED bool is_earlier(const struct page_row *x, const struct page_row *y) {
    BEFORE(thread)
    BEFORE(time)
    BEFORE(event)
    BEFORE(node)
    BEFORE(weight)
    return x->count < y->count;
}

INLINED bool has_earlier_stack(const struct page_row *x, const struct page_row *y) {
    BEFORE(thread)
    BEFORE(event)
    BEFORE(node)
    BEFORE(time)
    BEFORE(weight)
    return x->count < y->count;
}

INLINED void swap(struct page_row *x, struct page_row *y) {
    const struct page_row kept = *x;
    *x = *y;
    *y = kept;
}

INLINED void insert_all(struct page_row *rows, size_t count, row_order *before) {
    for (size_t i = 1; i < count; i++) {
        const struct page_row row = rows[i];
        size_t at = i;
        for (; at > 0 && before(&row, &rows[at - 1]); at--)
            rows[at] = rows[at - 1];
        rows[at] = row;
    }
}

INLINED void sink(struct page_row *rows, size_t at, size_t count, row_order *before) {
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && before(&rows[child], &rows[child + 1]))
            child++;
        if (!before(&rows[at], &rows[child]))
            return;
        swap(&rows[at], &rows[child]);
    }
}

INLINED void heap_sort(struct page_row *rows, size_t count, row_order *before) {
    for (size_t i = count / 2; i-- > 0;)
        sink(rows, i, count, before);
    for (size_t i = count; i-- > 1;) {
        swap(&rows[0], &rows[i]);
        sink(rows, 0, i, before);
    }
}

/* Partitions the rows: no row of the first part comes after the median of three, no row of the
   second part before it. Returns the index of the second part; neither part is empty. */
INLINED size_t split(struct page_row *rows, size_t count, row_order *before) {
    struct page_row *first = &rows[0], *middle = &rows[count / 2], *last = &rows[count - 1];
    if (before(middle, first))
        swap(middle, first);
    if (before(last, middle))
        swap(last, middle);
    if (before(middle, first))
        swap(middle, first);
    const struct page_row pivot = *middle;
    for (size_t i = 0, j = count - 1;; i++, j--) {
        while (before(&rows[i], &pivot))
            i++;
        while (before(&pivot, &rows[j]))
            j--;
        if (i >= j)
            return j + 1;
        swap(&rows[i], &rows[j]);
    }
}

struct sort_part {
    size_t from, count;
    unsigned depth;
};

/* Sorts the smaller part first, so at most log2(count) parts wait at a time. */
INLINED void sort(struct page_row *rows, size_t count, row_order *before) {
    struct sort_part waiting[64], part = {0, count, 0};
    for (unsigned left = 0; count > 1;) {
        if (part.count > FEW && part.depth < 64) {
            const size_t front = split(rows + part.from, part.count, before), back = part.count - front;
            const struct sort_part one = {part.from, front, part.depth + 1},
                                   other = {part.from + front, back, part.depth + 1};
            waiting[left++] = front < back ? other : one;
            part = front < back ? one : other;
            continue;
        }
        if (part.count > FEW)
            heap_sort(rows + part.from, part.count, before);
        else
            insert_all(rows + part.from, part.count, before);
        if (!left)
            return;
        part = waiting[--left];
    }
}

void page_rows_sort_by_time(struct page_row *rows, size_t count) {
    sort(rows, count, is_earlier);
}

void page_rows_sort_by_stack(struct page_row *rows, size_t count) {
    sort(rows, count, has_earlier_stack);
}

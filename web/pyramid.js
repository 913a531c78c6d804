// SPDX-License-Identifier: Apache-2.0
// Calls of one thread in rows by depth, and coarser and coarser versions of each row: what is drawn depends on the
// pixels, not on the calls.

const FACTOR = 4;

function rowsByDepth(calls, from, to, depths) {
    const rows = Array.from({length: depths}, () => ({start: [], end: [], func: []}));
    for (let i = from; i < to; i++) {
        if (calls.depth[i] >= depths) continue;
        const row = rows[calls.depth[i]];
        row.start.push(calls.start[i]);
        row.end.push(calls.start[i] + calls.duration[i]);
        row.func.push(calls.func[i]);
    }
    return rows.map((row) => ({start: Float64Array.from(row.start), end: Float64Array.from(row.end), func: Int32Array.from(row.func)}));
}

// Runs of spans that are shorter than `quantum`, with gaps shorter than that, become one span without a function (-1).
export function coarsen(row, quantum) {
    const start = [], end = [], func = [];
    for (let i = 0; i < row.start.length; i++) {
        const last = start.length - 1, isShort = row.end[i] - row.start[i] < quantum;
        const joins = last >= 0 && isShort && func[last] === -1 && row.start[i] - end[last] < quantum;
        if (joins) end[last] = row.end[i];
        else {
            start.push(row.start[i]);
            end.push(row.end[i]);
            func.push(isShort ? -1 : row.func[i]);
        }
    }
    return {start: Float64Array.from(start), end: Float64Array.from(end), func: Int32Array.from(func)};
}

function medianDuration(row) {
    const lengths = Array.from(row.start.subarray(0, 1000), (start, i) => row.end[i] - start).sort((a, b) => a - b);
    return Math.max(1, lengths[lengths.length >> 1] || 1);
}

// Levels of a row: [{quantum, row}], the finest first, until one has few spans left.
function levelsOf(row) {
    const levels = [{quantum: 0, row}];
    for (let quantum = medianDuration(row); levels[levels.length - 1].row.start.length > 1000; quantum *= FACTOR) {
        levels.push({quantum, row: coarsen(levels[levels.length - 1].row, quantum)});
        if (levels.length > 24) break;
    }
    return levels;
}

export class Pyramid {
    constructor(calls, thread, depths) {
        this.levels = rowsByDepth(calls, calls.ranges[thread], calls.ranges[thread + 1], depths).map(levelsOf);
    }
    // The version of a row for so many ns in a pixel: nothing in it that is longer than a pixel has been merged.
    rowFor(depth, nsPerPixel) {
        let best = this.levels[depth][0];
        for (const level of this.levels[depth]) if (level.quantum <= nsPerPixel) best = level;
        return best.row;
    }
}

// The first span of a row that ends after `time`.
export function firstEndingAfter(row, time) {
    let from = 0, to = row.end.length;
    while (from < to) {
        const middle = (from + to) >>> 1;
        if (row.end[middle] <= time) from = middle + 1;
        else to = middle;
    }
    return from;
}

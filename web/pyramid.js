// SPDX-License-Identifier: Apache-2.0
// Calls of one thread in rows by depth, and increasingly coarse versions of each row, so that the cost of drawing
// depends on the number of pixels, not on the number of calls.

const FACTOR = 4;

function emptyRow(count) {
    return {start: new Float64Array(count), end: new Float64Array(count), func: new Int32Array(count)};
}

function rowsByDepth(calls, from, to, depths) {
    const counts = new Uint32Array(depths), filled = new Uint32Array(depths);
    for (let i = from; i < to; i++) if (calls.depth[i] < depths) counts[calls.depth[i]]++;
    const rows = Array.from(counts, emptyRow);
    for (let i = from; i < to; i++) {
        const depth = calls.depth[i];
        if (depth >= depths) continue;
        const row = rows[depth], at = filled[depth]++;
        row.start[at] = calls.start[i];
        row.end[at] = calls.start[i] + calls.duration[i];
        row.func[at] = calls.func[i];
    }
    return rows;
}

// Merges runs of spans shorter than `quantum`, with gaps shorter than `quantum`, into one span without a function (-1).
export function coarsen(row, quantum) {
    const {start, end, func} = emptyRow(row.start.length);
    let count = 0;
    for (let i = 0; i < row.start.length; i++) {
        const isShort = row.end[i] - row.start[i] < quantum;
        if (count && isShort && func[count - 1] === -1 && row.start[i] - end[count - 1] < quantum) end[count - 1] = row.end[i];
        else {
            start[count] = row.start[i];
            end[count] = row.end[i];
            func[count++] = isShort ? -1 : row.func[i];
        }
    }
    return {start: start.slice(0, count), end: end.slice(0, count), func: func.slice(0, count)};
}

function medianDuration(row) {
    const lengths = Array.from(row.start.subarray(0, 1000), (start, i) => row.end[i] - start).sort((a, b) => a - b);
    return Math.max(1, lengths[lengths.length >> 1] || 1);
}

// Levels of a row: [{quantum, row}], from the finest level to a level with few spans.
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
    // The version of a row for a scale in ns per pixel, in which only spans shorter than a pixel are merged.
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

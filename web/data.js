// SPDX-License-Identifier: Apache-2.0
// The recording as typed arrays. Ids of nodes begin at 1; node 0 is the root of all stacks.
import {readColumns, splitStream} from './bytes.js';
import {readWaits} from './waits.js';

export const KIND = {program: 0, library: 1, kernel: 2, jit: 3, traced: 4, unnamed: 5};
export const NODE_INLINED = 1;
export const VERDICTS = ['noise', 'slower', 'faster', 'new', 'gone']; // as pfr_diff_verdict

const LATENCY_NUMBERS = 11; // as in page_columns.c
const LINES_MATCHED = ['', 'build', 'text', 'number']; // as enum line_matched

const EMPTY = new Uint32Array(0);
const signed = (n) => (n % 2 ? -(n + 1) / 2 : n / 2);
const filled = (column) => column && column.length ? column : null;

// Strings are decoded on first use, because most are never used.
export class Strings {
    constructor(blob, ends) {
        this.blob = blob;
        this.ends = ends;
        this.decoder = new TextDecoder();
        this.known = new Array(ends.length);
    }
    get(id) {
        if (this.known[id] === undefined)
            this.known[id] = this.decoder.decode(this.blob.subarray(id ? this.ends[id - 1] : 0, this.ends[id]));
        return this.known[id];
    }
}

function runningSum(deltas, from, to, scale, into) {
    let sum = 0;
    for (let i = from; i < to; i++) into[i] = (sum += deltas[i]) * scale;
}

// The start of each thread's rows, followed by the end of the last thread's rows.
function rangesOf(counts) {
    const ranges = new Uint32Array(counts.length + 1);
    for (let i = 0; i < counts.length; i++) ranges[i + 1] = ranges[i] + counts[i];
    return ranges;
}

function timesOf(deltas, ranges, quantum) {
    const times = new Float64Array(deltas.length);
    for (let t = 0; t + 1 < ranges.length; t++) runningSum(deltas, ranges[t], ranges[t + 1], quantum, times);
    return times;
}

// Multiplies the numbers of a column by `quantum`, in a loop, because from() calls a function for
// each number.
function scaledBy(column, quantum) {
    const scaled = new Float64Array(column.length);
    for (let i = 0; i < column.length; i++) scaled[i] = column[i] * quantum;
    return scaled;
}

function parentsOf(offsets) {
    const parents = new Int32Array(offsets.length);
    parents[0] = -1;
    for (let i = 1; i < offsets.length; i++) parents[i] = i - offsets[i];
    return parents;
}

function lookedUp(ids, table) {
    const found = new Uint32Array(ids.length);
    for (let i = 0; i < ids.length; i++) found[i] = table[ids[i]];
    return found;
}

// Calls in preorder by thread: the parent of a call is the nearest earlier call that is less deep. `end` is the index
// after the last call inside it; `self` is its duration minus the durations of the calls that it made.
function linkCalls(calls) {
    const n = calls.depth.length;
    calls.parent = new Int32Array(n).fill(-1);
    calls.end = new Uint32Array(n);
    calls.self = calls.duration.slice();
    for (let t = 0; t + 1 < calls.ranges.length; t++) linkThread(calls, calls.ranges[t], calls.ranges[t + 1]);
}

function linkThread(calls, from, to) {
    const open = [];
    for (let i = from; i <= to; i++) {
        while (open.length && (i === to || calls.depth[open[open.length - 1]] >= calls.depth[i])) calls.end[open.pop()] = i;
        if (i === to) break;
        if (open.length) {
            calls.parent[i] = open[open.length - 1];
            calls.self[calls.parent[i]] -= calls.duration[i];
        }
        open.push(i);
    }
}

function readCalls(columns, quantum, nodeFunc, nodeOfRank) {
    const ranges = rangesOf(columns['thread.calls'] || EMPTY);
    const calls = {ranges, depth: columns['call.depth'] || EMPTY, start: timesOf(columns['call.gap'] || EMPTY, ranges, quantum),
                   node: lookedUp(columns['call.node'] || EMPTY, nodeOfRank)};
    calls.duration = scaledBy(columns['call.duration'] || EMPTY, quantum);
    calls.func = lookedUp(calls.node, nodeFunc);
    linkCalls(calls);
    return calls;
}

// Numbers of the finished calls of each function in the whole recording, as `perfray latency` prints them; the calls that the page
// omits count. `exact`: the percentiles are not those of a sketch.
function readLatencies(columns, quantum) {
    const numbers = columns['latency.numbers'] || EMPTY, count = numbers.length / LATENCY_NUMBERS;
    return Array.from({length: count}, (_, i) => {
        const [key, calls, self, sum, least, most, ...ranks] = Array.from({length: LATENCY_NUMBERS}, (_, kind) => numbers[kind * count + i]);
        return {func: Math.floor(key / 4), isOld: key % 4 > 1, exact: key % 2 === 1, count: calls, sum: sum * quantum, self: signed(self) * quantum, least: least * quantum,
                percentiles: [...ranks, most].map((value) => value * quantum)};
    });
}

function readFuncs(columns, strings) {
    const n = columns['func.name'].length;
    return {count: n, name: columns['func.name'], object: columns['func.object'], kind: columns['func.kind'],
            addressLow: columns['func.address_low'], addressHigh: columns['func.address_high'],
            file: columns['func.file'] || new Uint32Array(n), line: columns['func.line'] || new Uint32Array(n),
            nameOf: (id) => strings.get(columns['func.name'][id])};
}

function readObjects(columns) {
    return {count: columns['object.name'].length, name: columns['object.name'], path: columns['object.path'],
            buildId: columns['object.build_id'], kind: columns['object.kind'] || new Uint8Array(columns['object.name'].length)};
}

// `start` and `end` of a thread; NaN: unknown.
function readThreads(columns, quantum) {
    const lifeOf = (name) => Float64Array.from(columns[name] || EMPTY, (slot) => slot ? (slot - 1) * quantum : NaN);
    return {start: lifeOf('thread.start'), end: lifeOf('thread.end'), count: columns['thread.tid'].length, pid: columns['thread.pid'], tid: columns['thread.tid'], cgroup: columns['thread.cgroup'] || new Uint32Array(columns['thread.tid'].length),
            name: columns['thread.name'], process: columns['thread.process'], baseline: filled(columns['thread.baseline']), command: filled(columns['thread.command'])}; // command: 1 for threads of the recorded command, null: all are, or it is not known; baseline: 1 for its threads, 2 for the unknown thread; null: nothing is compared
}

// Weights whose sums would not be exact are stored as multiples of a power of two.
function readWeights(weights, unit) {
    return weights && unit > 1 ? scaledBy(weights, unit) : weights || null;
}

function readSamples(columns, {quantum, weight_unit: unit}, nodeOfRank) {
    const ranges = rangesOf(columns['thread.samples'] || EMPTY);
    const count = ranges[ranges.length - 1];
    return {count, ranges, node: lookedUp(columns['sample.node'] || EMPTY, nodeOfRank),
            time: timesOf(columns['sample.gap'] || EMPTY, ranges, quantum),
            event: columns['sample.event'] || new Uint8Array(count), weight: readWeights(columns['sample.weight'], unit),
            number: filled(columns['sample.count'])}; // number of samples in each row; null: one per row
}

// The column numbers threads from 1, `thread` from 0; -1: the thread of the mark is unknown.
function readMarks(columns, quantum) {
    const of = (name) => columns[`mark.${name}`] || EMPTY, thread = Int32Array.from(of('thread'), (number) => number - 1);
    return {count: thread.length, thread, baseline: filled(columns['mark.baseline']), time: scaledBy(of('time'), quantum), kind: of('kind'), number: of('count'), type: of('type'), texts: of('text')};
}

// States of threads, by thread in time order; `kind` is pfr_interval_kind, `wait` the row of the waits that an interval is
// part of (null: not known), `open` tells whether it began before the recording or lasted beyond its end. The page omits
// intervals shorter than `least` ns (0: none).
function readIntervals(columns, threadCount, {quantum: quantumOfSamples, interval_quantum: quantum = quantumOfSamples, interval_least: least = 0}) {
    const ranges = rangesOf(columns['thread.intervals'] || new Uint32Array(threadCount)), start = timesOf(columns['interval.gap'] || EMPTY, ranges, quantum);
    const end = scaledBy(columns['interval.duration'] || EMPTY, quantum);
    for (let i = 0; i < end.length; i++) end[i] += start[i];
    const kinds = columns['interval.kind'] || EMPTY;
    return {ranges, start, end, kind: kinds.map((kind) => kind & 7), open: kinds.map((kind) => kind >> 3), wait: columns['interval.wait'] || null, quantum, least};
}

// The pairs of lines whose newer line has another number or file, as text 'FUNC FILE:LINE' of the baseline -> 'FILE:LINE'
// of the newer side; null: the line is gone.
function readLinePairs(columns) {
    const func = columns['pair.func'] || EMPTY, pairs = new Map();
    for (let i = 0; i < func.length; i++)
        pairs.set(`${func[i]} ${columns['pair.base_file'][i]}:${columns['pair.base_line'][i]}`, columns['pair.line'][i] ? `${columns['pair.file'][i]}:${columns['pair.line'][i]}` : null);
    return pairs;
}

// Code of functions. `funcs` are listings, each with the rows [from, end) of `insns`; `hits` are counts, sorted by row.
// `text` has the source lines of each side: 'FILE:LINE' -> text and whether it is certainly the version of that build.
// `side` is 1 for the baseline of a comparison; `matched` tells how lines were paired with those of the other side.
function readCode(columns, unit) {
    const func = columns['code.func'] || EMPTY, rows = columns['code.rows'] || EMPTY, funcs = [], text = [new Map(), new Map()];
    let from = 0;
    for (let i = 0; i < func.length; i++) {
        const matched = columns['code.matched'] ? columns['code.matched'][i] : 0;
        funcs.push({func: func[i], from, end: from + rows[i], why: columns['code.why'][i], side: columns['code.side'] ? columns['code.side'][i] : 0, matched: LINES_MATCHED[matched & 3], sameAddresses: matched > 3});
        from += rows[i];
    }
    const insns = {low: columns['insn.address_low'] || EMPTY, high: columns['insn.address_high'] || EMPTY, text: columns['insn.text'] || EMPTY, file: columns['insn.file'] || EMPTY,
                   line: columns['insn.line'] || EMPTY, target: columns['insn.target'] || EMPTY, kind: columns['insn.kind'] || EMPTY};
    const hits = {row: columns['hit.row'] || EMPTY, event: columns['hit.event'] || EMPTY, samples: columns['hit.samples'] || EMPTY, weight: readWeights(columns['hit.weight'] || EMPTY, unit)};
    const sources = columns['source.file'] || EMPTY, hasSources = [false, false];
    for (let i = 0; i < sources.length; i++) {
        const of = columns['source.side'] ? columns['source.side'][i] : 0;
        text[of & 1].set(`${sources[i]}:${columns['source.line'][i]}`, {text: columns['source.text'][i], isCertain: of > 1});
        hasSources[of & 1] = true;
    }
    return {funcs, insns, hits, text, fileNames: columns['file.name'] || null, pairs: readLinePairs(columns), hasSources};
}

class Code {
    constructor(columns, unit, strings) {
        Object.assign(this, readCode(columns, unit));
        this.strings = strings;
    }
    // The name of a file by its number. Older pages have no numbers of files, but ids of their names.
    fileName(file) { return this.strings.get(this.fileNames ? this.fileNames[file - 1] : file); }
    sourceOf(side, place) { return this.text[side].has(place) ? this.strings.get(this.text[side].get(place).text) : null; }
    // Whether the text of a line may be from another version of the file than the one that the side
    // was built from.
    mayDiffer(side, place) { return this.text[side].has(place) && !this.text[side].get(place).isCertain; }
    // The place of the newer side that corresponds to a place of the baseline; null: the line is gone.
    newerPlace(func, place) {
        const key = `${func} ${place}`;
        return this.pairs.has(key) ? this.pairs.get(key) : place;
    }
    addressOf(insn) {
        const high = this.insns.high[insn] ? this.insns.high[insn].toString(16) : '', low = this.insns.low[insn].toString(16);
        return high ? high + low.padStart(8, '0') : low;
    }
    // The first hit at or after a row.
    firstHit(row) {
        let low = 0, high = this.hits.row.length;
        while (low < high) {
            const middle = (low + high) >> 1;
            if (this.hits.row[middle] < row) low = middle + 1;
            else high = middle;
        }
        return low;
    }
}

// The results of perfray diff by event: {total, of}. `total` is the row [total], `of` has the rows by function. Each
// row is {self, total} of {delta, low, high, verdict, known}, in percent of each side's total; `known`: whether the
// interval is known. Empty if the page compares nothing.
function readChanges(columns, funcCount) {
    const func = columns['change.func'] || EMPTY, events = new Map();
    const points = (name, i) => signed(columns[`change.${name}`][i]) / 1e6;
    const part = (i) => ({delta: points('delta', i), low: points('low', i), high: points('high', i),
                          verdict: VERDICTS[columns['change.verdict'][i] & 7], known: columns['change.verdict'][i] > 7});
    for (let i = 0; i < func.length; i += 2) {
        const event = columns['change.event'][i], row = {self: part(i), total: part(i + 1)};
        if (!events.has(event)) events.set(event, {total: null, of: new Map()});
        if (func[i] === funcCount) events.get(event).total = row;
        else events.get(event).of.set(func[i], row);
    }
    return events;
}

// Reads all data of a page from the stream in the page's blocks. `meta` is the directory without its columns.
export function readData(bytes) {
    const {directory, body} = splitStream(bytes);
    const columns = readColumns(directory, body), meta = directory.meta;
    if (!meta.events.length) meta.events.push({name: 'samples', unit: null}); // so that views have an event name to show
    const strings = new Strings(columns['string.bytes'], columns['string.end']);
    const nodeFunc = new Uint32Array(columns['node.func']), nodeOfRank = columns['rank.node'];
    const tree = {count: nodeFunc.length, func: nodeFunc, parent: parentsOf(columns['node.offset']),
                  flags: columns['node.flags'], line: columns['node.line'] || new Uint32Array(nodeFunc.length)};
    return {meta, strings, tree, funcs: readFuncs(columns, strings), objects: readObjects(columns),
            threads: readThreads(columns, meta.quantum), samples: readSamples(columns, meta, nodeOfRank),
            calls: readCalls(columns, meta.call_quantum || 1, nodeFunc, nodeOfRank), marks: readMarks(columns, meta.call_quantum || 1),
            latencies: readLatencies(columns, meta.call_quantum || 1), changes: readChanges(columns, columns['func.name'].length),
            code: new Code(columns, meta.weight_unit, strings), intervals: readIntervals(columns, columns['thread.tid'].length, meta),
            waits: readWaits(columns)};
}

// SPDX-License-Identifier: Apache-2.0
// Builds page data from the stacks of a test. The data is encoded as perfray view encodes it, then decoded.
import {readData, KIND} from '../../../web/data.js';
import {MARK_KINDS} from '../../../web/marks.js';
import {STREAM_MAGIC} from '../../../web/bytes.js';

export function planesOf(numbers, width) {
    const bytes = new Uint8Array(numbers.length * width);
    numbers.forEach((number, i) => {
        for (let plane = 0, left = number; plane < width; plane++, left = Math.floor(left / 256))
            bytes[plane * numbers.length + i] = left % 256;
    });
    return bytes;
}

export function streamOf(meta, columns) {
    const parts = columns.map(([, numbers, width]) => planesOf(numbers, width));
    const directory = {meta, columns: columns.map(([name, numbers, width]) => ({name, count: numbers.length, width}))};
    const head = new TextEncoder().encode(JSON.stringify(directory));
    const bytes = new Uint8Array(12 + head.length + parts.reduce((sum, part) => sum + part.length, 0));
    bytes.set(new TextEncoder().encode(STREAM_MAGIC));
    new DataView(bytes.buffer).setUint32(8, head.length, true);
    bytes.set(head, 12);
    parts.reduce((at, part) => (bytes.set(part, at), at + part.length), 12 + head.length);
    return bytes;
}

const interning = (list) => (value) => {
    const at = list.indexOf(value);
    return at >= 0 ? at : list.push(value) - 1;
};

const gaps = (times) => times.map((time, i) => time - (i ? times[i - 1] : 0));

// A frame is "name@object"; the default object is "prog". Functions of the object "[kernel]" are kernel functions. A trailing
// "'" marks an inlined frame.
export class Maker {
    constructor() {
        this.texts = [''];
        this.objects = [];
        this.funcs = [];
        this.nodes = [{func: 0, parent: -1, flags: 0}];
        this.text = interning(this.texts);
        this.object = interning(this.objects);
        this.func = interning(this.funcs);
        this.samples = [];
        this.calls = [];
        this.marks = [];
        this.pids = [];
        this.cgroups = [];
        this.commands = []; // threads of the recorded command
        this.idle = []; // threads of the idle task
        this.baseline = []; // threads of the baseline of a comparison
        this.unknown = []; // threads of both recordings
    }
    node(stack) {
        let at = 0;
        for (const word of stack.split(' ').filter(Boolean)) {
            const inlined = word.endsWith("'"), name = inlined ? word.slice(0, -1) : word, func = this.func(name.includes('@') ? name : name + '@prog');
            let next = this.nodes.findIndex((n, i) => i > 0 && n.parent === at && n.func === func && n.flags === Number(inlined));
            if (next < 0) next = this.nodes.push({func, parent: at, flags: Number(inlined)}) - 1;
            at = next;
        }
        return at;
    }
    sample(stack, {thread = 0, time = this.samples.length, weight = 1, event = 0, number = 1} = {}) {
        this.samples.push({node: this.node(stack), thread, time, weight, event, number});
        return this;
    }
    call(stack, {thread = 0, start, duration}) {
        this.calls.push({node: this.node(stack), depth: stack.split(' ').length - 1, thread, start, duration});
        return this;
    }
    // Marks must be added in time order. thread -1: the mark belongs to no thread.
    mark(kind, {thread = 0, time, number = 0, type = 0, text = '', isOld = false}) {
        this.marks.push({kind: MARK_KINDS.indexOf(kind), thread, time, number, type, text: this.text(text), isOld});
        return this;
    }
    threadCount() {
        return Math.max(0, ...this.samples.map((s) => s.thread), ...this.calls.map((c) => c.thread)) + 1;
    }
    ofThread(rows, t) {
        return rows.filter((row) => row.thread === t);
    }
    columns() {
        const threads = Array.from({length: this.threadCount()}, (_, t) => t);
        const samples = threads.flatMap((t) => this.ofThread(this.samples, t)), calls = threads.flatMap((t) => this.ofThread(this.calls, t));
        const [names, objects] = [this.funcs.map((f) => this.text(f.split('@')[0])), this.funcs.map((f) => this.object(f.split('@')[1]))];
        const paths = this.objects.map((o) => this.text('/lib/' + o)), objectNames = this.objects.map((o) => this.text(o));
        const threadNames = threads.map((t) => this.text(`worker-${t}`)), cgroups = threads.map((t) => this.text(this.cgroups[t] || '')), build = this.text('beef');
        const kinds = this.funcs.map((f) => f.endsWith('@[kernel]') ? KIND.kernel : KIND.program);
        const bytes = this.texts.map((text) => new TextEncoder().encode(text));
        return [
            ['string.bytes', bytes.flatMap((b) => [...b]), 1],
            ['string.end', bytes.map((_, i) => bytes.slice(0, i + 1).reduce((sum, b) => sum + b.length, 0)), 4],
            ['object.name', objectNames, 2], ['object.path', paths, 2], ['object.build_id', paths.map(() => build), 2],
            ['func.name', names, 2], ['func.object', objects, 1], ['func.kind', kinds, 1],
            ['node.func', this.nodes.map((n) => n.func), 2], ['node.offset', this.nodes.map((n, i) => i - Math.max(n.parent, 0)), 4],
            ['node.flags', this.nodes.map((n) => n.flags), 1], ['rank.node', this.nodes.map((_, i) => i), 4],
            ['thread.pid', threads.map((t) => this.idle.includes(t) ? 0 : this.pids[t] || 100), 2], ['thread.cgroup', cgroups, 2], ['thread.tid', threads.map((t) => this.idle.includes(t) ? 0 : 100 + t), 2],
            ['thread.name', threadNames, 2], ['thread.process', threadNames, 2],
            ['thread.samples', threads.map((t) => this.ofThread(this.samples, t).length), 4],
            ['thread.calls', threads.map((t) => this.ofThread(this.calls, t).length), 4],
            ['sample.node', samples.map((s) => s.node), 4], ['sample.event', samples.map((s) => s.event), 1],
            ['sample.weight', samples.map((s) => s.weight), 5],
            ['sample.count', samples.some((s) => s.number > 1) ? samples.map((s) => s.number) : [], 2],
            ['sample.gap', threads.flatMap((t) => gaps(this.ofThread(this.samples, t).map((s) => s.time))), 6],
            ['call.node', calls.map((c) => c.node), 4], ['call.depth', calls.map((c) => c.depth), 2],
            ['call.duration', calls.map((c) => c.duration), 4],
            ['call.gap', threads.flatMap((t) => gaps(this.ofThread(this.calls, t).map((c) => c.start))), 4],
            ['mark.thread', this.marks.map((m) => m.thread + 1), 1], ['mark.time', this.marks.map((m) => m.time), 4],
            ['mark.kind', this.marks.map((m) => m.kind), 1], ['mark.count', this.marks.map((m) => m.number), 2], ['mark.type', this.marks.map((m) => m.type), 2],
            ['mark.text', this.marks.map((m) => m.text), 2],
            ['thread.command', this.commands.length ? threads.map((t) => Number(this.commands.includes(t))) : [], 1],
            ['thread.baseline', this.baseline.length ? threads.map((t) => this.unknown.includes(t) ? 2 : Number(this.baseline.includes(t))) : [], 1], ['mark.baseline', this.baseline.length ? this.marks.map((m) => Number(m.isOld)) : [], 1],
        ];
    }
    data() {
        const events = [{name: 'cycles', unit: null}];
        if (this.calls.length) events.push({name: 'calls', unit: 'ns', traced: true});
        if (this.baseline.length) events.push(...events.map((event) => ({...event, baseline: true})));
        return readData(streamOf({quantum: 1, events}, this.columns()));
    }
}

export const everything = {event: 0, measure: 'weight', time: null, threads: null};

export function namesOf(data) {
    return Array.from({length: data.funcs.count}, (_, func) => data.funcs.nameOf(func));
}

// The stacks of a tree as sorted lines "a b c = 12", to compare two trees.
export function foldedOf(tree, self, nameOf) {
    const lines = new Map();
    for (let node = 1; node < tree.count; node++) {
        if (!self[node]) continue;
        const names = [];
        for (let at = node; at > 0; at = tree.parent[at]) names.push(nameOf(tree.func[at]));
        const stack = names.reverse().join(' ');
        lines.set(stack, (lines.get(stack) || 0) + self[node]);
    }
    return [...lines].map(([stack, weight]) => `${stack} = ${weight}`).sort();
}

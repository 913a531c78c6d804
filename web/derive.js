// SPDX-License-Identifier: Apache-2.0
// Derives the data that views need from a state, once for each state.
import {KIND} from './data.js';
import {visibleText} from './format.js';
import {selectCalls} from './latencies.js';
import {baselineEvent, compareTotals} from './diff.js';
import {countMatches, matchFunctions, parseSearch} from './search.js';
import {rankOf} from './thread_rows.js';
import {applySteps, moveWeights} from './transforms.js';
import {childrenOf, functionTable, outermostOf, totalsOf} from './tree.js';
import {firstTimes, isOfRecording, threadsOf, weightsOf} from './weights.js';

// Indexed by pfr_object_kind.
const NAME_SOURCES = ['', 'symbol table of the object', 'kernel symbols (kallsyms or vmlinux)', 'kernel symbols of the module', 'symbol table of the vdso',
                      'map file of the JIT compiler (perf-PID.map)', '', 'KSYMBOL record of the BPF program', 'jitdump of the compiler'];

// The functions of the recording, followed by those that collapsing creates, which have the next ids.
export class Functions {
    constructor(data) {
        this.data = data;
        this.made = [];
        this.names = new Array(data.funcs.count);
    }
    get count() { return this.data.funcs.count + this.made.length; }
    isMade(func) { return func >= this.data.funcs.count; }
    nameOf(func) {
        if (this.isMade(func)) return this.made[func - this.data.funcs.count].name;
        if (this.names[func] === undefined) this.names[func] = visibleText(this.data.funcs.nameOf(func));
        return this.names[func];
    }
    objectOf(func) { return this.isMade(func) ? this.made[func - this.data.funcs.count].object : this.data.funcs.object[func]; }
    kindOf(func) { return this.isMade(func) ? this.made[func - this.data.funcs.count].kind : this.data.funcs.kind[func]; }
    objectName(object) { return object < 0 ? '' : visibleText(this.data.strings.get(this.data.objects.name[object])); }
    objectPath(object) { return object < 0 ? '' : visibleText(this.data.strings.get(this.data.objects.path[object])); }
    buildId(object) { return object < 0 ? '' : this.data.strings.get(this.data.objects.buildId[object]); }
    sourceOf(func) {
        if (this.isMade(func) || !this.data.funcs.file[func]) return '';
        return `${visibleText(this.data.strings.get(this.data.funcs.file[func]))}:${this.data.funcs.line[func]}`;
    }
    // Why a function has no source line, if no function of the page has one.
    lacksLines() {
        const isComparison = this.data.meta.events.some(({baseline}) => baseline);
        return isComparison || this.data.funcs.file.some((file) => file > 0) ? '' : 'no lines in this page (view --lines reads debugging information)';
    }
    // The address in the object's file; for the kernel and anonymous memory, the recorded address. Frames created by
    // steps have no address ('').
    addressOf(func) {
        const {addressHigh, addressLow} = this.data.funcs;
        if (this.isMade(func) || !addressLow || !(addressLow[func] || addressHigh[func])) return '';
        const high = addressHigh[func] ? addressHigh[func].toString(16) : '', low = addressLow[func].toString(16);
        return `0x${high}${high ? low.padStart(8, '0') : low}`;
    }
    // The source of the name, as far as the kind of the object determines it.
    nameSource(func) {
        if (this.isMade(func)) return 'a step made this frame';
        if (this.kindOf(func) === KIND.unnamed) return 'no symbol covers its addresses (perfray symbols shows the reason)';
        return NAME_SOURCES[this.data.objects.kind[this.objectOf(func)]] || '';
    }
    make(name, object, kind) {
        const at = this.made.findIndex((m) => m.name === name && m.object === object);
        return this.data.funcs.count + (at >= 0 ? at : this.made.push({name, object, kind}) - 1);
    }
    objectFrame(object) { return this.make(`[${this.objectName(object)}]`, object, KIND.library); }
    kernelFrame() { return this.make('[kernel]', -1, KIND.kernel); }
    text(field, func) {
        if (field === 'obj') return this.objectName(this.objectOf(func));
        return field === 'file' ? this.sourceOf(func) : this.nameOf(func);
    }
    matcher(text) {
        const search = parseSearch(text);
        return (func) => search.matches(this.text(search.field, func));
    }
}

// Caches the results for the keys used last.
class Recent {
    constructor(most) {
        this.most = most;
        this.known = new Map();
    }
    get(key, make) {
        if (!this.known.has(key)) this.known.set(key, make());
        const value = this.known.get(key);
        this.known.delete(key);
        this.known.set(key, value);
        if (this.known.size > this.most) this.known.delete(this.known.keys().next().value);
        return value;
    }
}

const keyOf = (...parts) => JSON.stringify(parts, (name, value) => value instanceof Set ? [...value].sort() : value === Infinity ? 'inf' : value);

export class Derivations {
    constructor(data, functions) {
        this.data = data;
        this.functions = functions;
        this.weights = new Recent(8);
        this.trees = new Recent(4);
        this.views = new Recent(8); // a diff needs four of them
        this.searches = new Recent(4);
        this.diffs = new Recent(4);
        this.links = new WeakMap();
    }
    selectedCalls(state) {
        return state.calls ? selectCalls(this.data, {...state, calls: null}, state.calls) : null;
    }
    weightsOf(state) {
        return this.weights.get(keyOf(state.event, state.measure, state.time, state.threads, state.calls), () => {
            const calls = this.selectedCalls(state);
            return {...weightsOf(this.data, state, calls && calls.selected), calls};
        });
    }
    treeOf(steps) {
        return this.trees.get(keyOf(steps), () => {
            const {tree, map} = applySteps(this.data.tree, steps, this.functions);
            return {tree, map, ...this.linksOf(tree)};
        });
    }
    // Steps that only drop stacks do not change the tree, so its derived data can be reused.
    linksOf(tree) {
        if (!this.links.has(tree)) {
            const children = childrenOf(tree);
            this.links.set(tree, {children, outer: outermostOf(tree, children, this.functions.count)});
        }
        return this.links.get(tree);
    }
    // {tree, children, outer, self, total, all, rows, dropped}; `all` is the weight of the selection before steps
    // dropped stacks.
    of(state) {
        const key = keyOf(state.event, state.measure, state.time, state.threads, state.calls, state.steps);
        return this.views.get(key, () => {
            const weights = this.weightsOf(state), {tree, map, children, outer} = this.treeOf(state.steps);
            const {self, dropped} = moveWeights(weights.self, map, tree.count), total = totalsOf(tree, self);
            return {key, tree, map, children, outer, self, total, dropped, all: weights.total, rows: weights.rows, calls: weights.calls};
        });
    }
    tableOf(state) {
        const view = this.of(state);
        view.table = view.table || functionTable(view.tree, view.self, view.total, view.outer, this.functions.count);
        return view.table;
    }
    // Weights of a function (including callees) in each thread: [{thread, weight}], those of the recorded command first,
    // then the heaviest. func null: the whole selection.
    threadsOf(state, func, threads) {
        const view = this.of(state);
        view.threads = view.threads || new Map();
        if (!view.threads.has(func)) view.threads.set(func, this.weighThreads(state, func, threads));
        return view.threads.get(func);
    }
    weighThreads(state, func, threads) {
        const {tree, map} = this.treeOf(state.steps), inside = new Uint8Array(tree.count), calls = this.selectedCalls(state);
        const only = new Uint8Array(map.length), unused = new Float64Array(map.length); // both by node of the recording's tree
        for (let i = 1; i < tree.count; i++) inside[i] = Number(func === null || tree.func[i] === func || inside[tree.parent[i]]);
        for (let i = 1; i < map.length; i++) only[i] = map[i] > 0 ? inside[map[i]] : 0;
        const chosen = new Set(threadsOf(this.data, state));
        return threads.filter((thread) => chosen.has(thread)).map((thread) => {
            const {total} = weightsOf(this.data, {...state, threads: new Set([thread])}, calls && calls.selected, only, unused);
            return {thread, weight: total};
        }).sort((a, b) => rankOf(this.data, a.thread) - rankOf(this.data, b.thread) || b.weight - a.weight || a.thread - b.thread);
    }
    // The next event of samples, whose weight is divided by that of the shown event; -1: there is no other event.
    otherEvent(event) {
        const {events} = this.data.meta, own = events.map((_, i) => i).filter((i) => !events[i].traced && !events[i].baseline);
        return own.length > 1 && own.includes(event) ? own[(own.indexOf(event) + 1) % own.length] : -1;
    }
    // {all, of}: the ratio of two events, for the whole selection and by function.
    ratiosOf(state) {
        const view = this.of(state), other = this.otherEvent(state.event);
        if (view.ratios || other < 0) return view.ratios || null;
        const upper = this.of({...state, event: other}), totals = new Map(this.tableOf({...state, event: other}).map((row) => [row.func, row.total]));
        const of = new Map(this.tableOf(state).map((row) => [row.func, (totals.get(row.func) || 0) / row.total]));
        return (view.ratios = {all: view.total[0] > 0 ? upper.total[0] / view.total[0] : 0, of, names: [other, state.event].map((event) => this.data.meta.events[event].name)});
    }
    // Totals and functions of both recordings in the selection; null: the page has one recording. A selection of time
    // applies to both, a selection of threads to the recordings of these threads.
    diffOf(state) {
        const other = baselineEvent(this.data.meta.events, state.event);
        if (other < 0) return null;
        return this.diffs.get(keyOf(state.event, state.measure, state.time, state.threads, state.calls, state.steps), () => {
            const states = [other, state.event].map((event) => this.sideOf(state, event)), counts = states.map((side) => ({...side, measure: 'count'}));
            const [base, view, oldCounts, newCounts] = [...states, ...counts].map((side) => this.of(side));
            const totals = compareTotals(base.total, view.total, oldCounts.total, newCounts.total, false);
            return {tree: view.tree, children: view.children, totals, known: this.knownChanges(state), rows: this.diffRows(states, counts)};
        });
    }
    // The state for the recording of a comparison that has `event`: of the selected threads, only
    // those of this recording; all threads if it has none of them.
    sideOf(state, event) {
        const isOld = Boolean(this.data.meta.events[event].baseline), threads = new Set([...state.threads || []].filter((thread) => isOfRecording(this.data, thread, isOld)));
        return {...state, event, threads: threads.size ? threads : null};
    }
    // The results of perfray diff for the event; null for a part of the recordings, or if samples are counted.
    knownChanges(state) {
        const isWhole = !state.time && !state.threads && !state.calls && !state.steps.length && state.measure === 'weight';
        return (isWhole && this.data.changes.get(state.event)) || null;
    }
    diffRows([old, made], [oldCounts, newCounts]) {
        const rows = new Map(), row = (func) => rows.get(func) || rows.set(func, {func, a: 0, b: 0, countA: 0, countB: 0}).get(func);
        for (const {func, total} of this.tableOf(old)) row(func).a = total;
        for (const {func, total} of this.tableOf(made)) row(func).b = total;
        for (const {func, total} of this.tableOf(oldCounts)) row(func).countA = total;
        for (const {func, total} of this.tableOf(newCounts)) row(func).countB = total;
        return [...rows.values()];
    }
    // The time at which each node of the tree after steps first occurred.
    firstOf(state) {
        const view = this.of(state);
        if (view.first) return view.first;
        const first = firstTimes(this.data, state), {tree, map} = view;
        view.first = new Float64Array(tree.count).fill(Infinity);
        for (let i = 1; i < map.length; i++) if (map[i] > 0) view.first[map[i]] = Math.min(view.first[map[i]], first[i]);
        for (let i = tree.count - 1; i > 0; i--)
            view.first[tree.parent[i]] = Math.min(view.first[tree.parent[i]], view.first[i]);
        return view.first;
    }
    // {marked, functions, nodes, weight} for a query; {error} if it is not a valid regular expression; null if it is
    // empty.
    searchOf(state) {
        if (!state.query) return null;
        const view = this.of(state);
        return this.searches.get(keyOf(view.key, state.query), () => {
            try {
                const marked = matchFunctions(parseSearch(state.query), this.functions.count, (field, func) => this.functions.text(field, func));
                return {marked, ...countMatches(view.tree, view.self, view.total, marked)};
            } catch (error) {
                return {error: error.message};
            }
        });
    }
}

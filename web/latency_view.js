// SPDX-License-Identifier: Apache-2.0
// Durations of calls: a table of functions, the histogram of one function, its slowest calls, and a comparison of two
// ranges.
import {el, fill} from './dom.js';
import {countOf, formatShare, formatTime, groupDigits, parseDuration, shortName} from './format.js';
import {bucketBoundary, bucketOf, callsOfFunction, distributionOf, distributionsByCaller, isNested, latencyRows, omittedCalls, PERCENTILES, selectCalls, slowestCalls, threadOfCall} from './latencies.js';
import {functionTable, totalsOf} from './tree.js';
import {moveWeights} from './transforms.js';
import {weightsOf} from './weights.js';

const SLOWEST = 20;
const FEW_SAMPLES = 20;
const ROWS_MOST = 500;
const CALLERS_MOST = 20;
const MANY_CALLS = 50000; // so many take so long that callers are computed only on request

const HEADS = [['count', (r) => r.count], ['sum', (r) => r.sum], ['self', (r) => r.self], ['min', (r) => r.least],
               ...PERCENTILES.map(([name], i) => [name, (r) => r.percentiles[i]])];
const HEADS_OF_CALLERS = HEADS.filter(([name]) => ['count', 'p50', 'p99', 'max'].includes(name)); // there is little room

export class LatencyView {
    constructor(app) {
        this.app = app;
        this.sort = 1;
        this.rows = el('div', {class: 'latencies', tabindex: '0', role: 'group', 'aria-label': 'Functions by latency'});
        this.side = el('div', {class: 'distribution'});
        this.element = el('div', {class: 'latency', role: 'tabpanel', 'aria-label': 'Latency'}, this.rows, this.side);
        this.kept = null; // range to compare with the next one
    }
    render() {
        if (!this.app.hasCalls()) return fill(this.rows, el('p', {class: 'empty', text: 'No traced calls in this file: record some with perfray trace ./program.'}));
        const func = this.app.state.calls ? this.app.state.calls.func : this.app.state.func;
        this.renderRows(func);
        return func === null ? fill(this.side, el('p', {class: 'empty', text: 'Choose a function to see how long its calls took.'})) : this.renderFunction(func);
    }
    scope() {
        return {...this.app.state, calls: null};
    }

    // --- The table.

    rowsNow() {
        const {time, threads, event} = this.app.state, key = JSON.stringify([event, time, threads && [...threads]]);
        if (this.rowsKey !== key) {
            this.rowsKey = key;
            this.known = latencyRows(this.app.data, this.scope());
        }
        return this.known;
    }
    sortedRows() {
        const value = HEADS[this.sort][1];
        return this.rowsNow().slice().sort((a, b) => value(b) - value(a) || a.func - b.func);
    }
    renderRows(chosen) {
        const rows = this.sortedRows();
        const heads = [...HEADS.map(([name], i) => this.head(name, i)), el('th', {scope: 'col', text: 'function'})];
        const shown = rows.slice(0, ROWS_MOST).map((row) => this.row(row, row.func === chosen));
        const rest = rows.length > ROWS_MOST ? el('p', {text: `${groupDigits(rows.length - ROWS_MOST)} more functions are not listed.`}) : null;
        fill(this.rows, el('table', {'aria-label': 'Latencies'}, el('thead', {}, el('tr', {}, ...heads)), el('tbody', {}, ...shown)), rest, this.omissions(rows));
    }
    // Numbers of the whole recording count all calls, those of a selection only the calls that the page has.
    lacks(row) {
        return row.omitted > 0 && Boolean(this.app.state.time || this.app.state.threads);
    }
    omittedText(row) {
        return `${countOf(row.omitted, 'call')} in the whole recording, each shorter than ${formatTime(this.app.data.meta.call_least)}`;
    }
    omissions(rows) {
        const omitted = [...omittedCalls(this.app.data, this.scope()).values()].reduce((a, b) => a + b, 0);
        return rows.some((row) => this.lacks(row)) ? el('p', {class: 'omitted', text: `▲ The page leaves out ${this.omittedText({omitted})}. The numbers are those of the other calls; self times include omitted callees.`}) : null;
    }
    omissionOf(func) {
        const row = this.rowsNow().find((each) => each.func === func);
        if (!row || !row.omitted) return null;
        const of = this.lacks(row) ? 'All numbers' : 'The histogram and the callers';
        return el('p', {class: 'omitted', text: `▲ ${of} lack ${this.omittedText(row)}, which the page leaves out.`});
    }
    head(name, i) {
        return el('th', {scope: 'col', class: 'number', 'aria-sort': i === this.sort ? 'descending' : 'none'},
                  el('button', {text: name, onclick: () => { this.sort = i; this.rows.scrollTop = 0; this.render(); }}));
    }
    row(row, chosen) {
        const name = this.app.functions.nameOf(row.func);
        const about = (name) => row.exact || !/^p\d/.test(name) ? '' : '~'; // percentiles of a sketch
        const cells = HEADS.map(([head, value], i) => el('td', {class: 'number', 'data-value': value(row), text: i ? about(head) + formatTime(value(row)) : groupDigits(value(row))}));
        const mark = this.lacks(row) ? el('span', {class: 'mark', text: '▲ ', title: `without ${this.omittedText(row)}`}) : null;
        return el('tr', {class: chosen ? 'chosen' : '', 'data-func': row.func, 'aria-selected': String(chosen)}, ...cells,
                  el('td', {class: 'name', title: name}, mark, el('button', {class: 'link', text: shortName(name, 60), onclick: () => this.choose(row.func)}),
                     row.outer < row.sum ? el('small', {class: 'source', text: ' recursive', title: this.recursionText(row)}) : null));
    }
    recursionText({outer, omitted}) {
        return `Recursive: calls inside calls of the same function count again. The outermost calls took ${omitted ? 'at most ' : ''}${formatTime(outer)}.`;
    }
    // The rows as tab-separated values, in the order shown.
    tsv() {
        if (!this.app.hasCalls()) return '';
        return [[...HEADS.map(([name]) => name === 'count' ? name : `${name}_ns`), 'function'].join('\t'),
                ...this.sortedRows().map((row) => [...HEADS.map(([, value]) => value(row)), this.app.functions.nameOf(row.func).replace(/[\t\n]/g, ' ')].join('\t'))].join('\n') + '\n';
    }
    choose(func) {
        this.app.change({func, node: null, calls: null});
    }

    // --- One function.

    renderFunction(func) {
        const found = callsOfFunction(this.app.data, this.scope(), func), distribution = distributionOf(this.app.data, found);
        if (!found.length) return fill(this.side, el('p', {class: 'empty', text: this.emptyText(func)}));
        const row = this.rowsNow().find((each) => each.func === func);
        if (this.shownFunc !== func) this.side.scrollTop = 0;
        this.shownFunc = func;
        return fill(this.side, el('h2', {text: this.app.functions.nameOf(func)}), row && row.outer < row.sum ? el('p', {class: 'dim', text: this.recursionText(row)}) : null, this.percentiles(func, this.percentilesOf(func, distribution)), this.omissionOf(func), this.atLeast(func), this.histogram(func, distribution),
                    this.chosenLine(func), this.comparison(func), this.byCaller(this.chosenOf(func, found)), this.slowest(this.chosenOf(func, found)));
    }
    emptyText(func) {
        const omitted = omittedCalls(this.app.data, this.scope()).get(func), name = this.app.functions.nameOf(func);
        return omitted ? `The page has no call of ${name} in this selection: it leaves out ${this.omittedText({omitted})}.` : `${name} was not called in this selection.`;
    }
    chosenOf(func, found) {
        const {calls} = this.app.state, {duration} = this.app.data.calls;
        return calls && calls.func === func ? found.filter((i) => duration[i] >= calls.low && duration[i] < calls.high) : found;
    }
    // A field for the shortest duration of the calls to choose.
    atLeast(func) {
        const {calls} = this.app.state, chosen = calls && calls.func === func && calls.high === Infinity ? formatTime(calls.low).replace('\u2009', ' ') : '';
        const field = el('input', {type: 'text', size: 10, 'aria-label': 'Choose calls of at least', placeholder: '5 ms', value: chosen, onchange: () => {
            const low = parseDuration(field.value.replace('\u2009', ' '));
            if (!field.value.trim()) this.app.change({calls: null});
            else if (low >= 0) this.brush(func, low, Infinity);
            else this.app.say(`${field.value} is not a duration: write 5 ms, 200 us or 1.5 s`);
        }});
        return el('label', {class: 'at-least'}, 'calls of at least ', field);
    }
    percentilesOf(func, distribution) {
        return (this.rowsNow().find((row) => row.func === func) || distribution).percentiles;
    }
    percentiles(func, percentiles) {
        const buttons = PERCENTILES.map(([name], i) => {
            const value = percentiles[i];
            return el('button', {class: 'percentile', title: `choose calls of at least ${formatTime(value)}`, text: `${name} ${formatTime(value)}`,
                                 onclick: () => this.brush(func, value, Infinity)});
        });
        return el('div', {class: 'percentiles', role: 'group', 'aria-label': 'Percentiles'}, ...buttons);
    }
    histogram(func, {first, counts}) {
        const most = counts.reduce((a, b) => Math.max(a, b), 0), {calls} = this.app.state;
        const bars = Array.from(counts, (count, i) => this.bucket(func, first + i, count, most, calls && calls.func === func ? calls : null));
        const axis = el('div', {class: 'axis', 'aria-hidden': 'true'}, el('span', {text: formatTime(bucketBoundary(first))}),
                        el('span', {class: 'dim', text: `up to ${countOf(most, 'call')} a bar, logarithmic`}),
                        el('span', {text: formatTime(bucketBoundary(first + counts.length))}));
        return el('div', {class: 'histogram', role: 'group', 'aria-label': 'Histogram'}, el('div', {class: 'bars'}, ...bars), axis);
    }
    bucket(func, bucket, count, most, chosen) {
        const low = bucketBoundary(bucket), high = bucketBoundary(bucket + 1), inside = chosen && low < chosen.high && high > chosen.low;
        const fillBar = el('span', {class: 'fill'});
        fillBar.style.height = count ? `${Math.max(2, 100 * Math.log1p(count) / Math.log1p(most))}%` : '0';
        const text = `${formatTime(low)} to ${formatTime(high)}: ${countOf(count, 'call')}`;
        return el('button', {class: inside ? 'bucket inside' : 'bucket', title: text, 'aria-label': text, 'aria-pressed': String(Boolean(inside)),
                             onpointerdown: () => { this.brushing = bucket; },
                             onpointerup: () => this.endBrush(func, bucket),
                             onkeydown: (event) => this.bucketKey(event, func, bucket)}, fillBar);
    }
    endBrush(func, bucket) {
        const from = Math.min(this.brushing ?? bucket, bucket), to = Math.max(this.brushing ?? bucket, bucket);
        this.brushing = null;
        this.brush(func, bucketBoundary(from), bucketBoundary(to + 1));
    }
    // Enter selects a bucket; Shift+Enter extends the range to it.
    bucketKey(event, func, bucket) {
        if (event.key !== 'Enter' && event.key !== ' ') return;
        event.preventDefault();
        const {calls} = this.app.state;
        this.brushing = event.shiftKey && calls ? bucketOf(calls.low) : bucket;
        this.endBrush(func, bucket);
    }
    brush(func, low, high) {
        this.app.change({func, node: null, zoom: null, calls: {func, low, high}});
    }

    // --- The selected calls.

    chosenLine(func) {
        const {calls} = this.app.state;
        if (!calls || calls.func !== func) return el('p', {text: 'Choose a bucket, a range of them, or a percentile: the other views then show these calls only.'});
        const {count} = selectCalls(this.app.data, this.scope(), calls);
        return el('div', {class: 'chosen-calls'}, el('p', {text: `${countOf(count, 'call')} chosen. ${this.samplesLine(calls)}`}),
                  el('button', {text: 'Flame graph of these calls', onclick: () => this.app.showPanel('flame')}),
                  el('button', {text: this.kept ? 'Keep this range instead' : 'Keep to compare', onclick: () => { this.kept = calls; this.render(); }}));
    }
    samplesLine(calls) {
        if (!this.app.hasSamples()) return '';
        const {selected} = selectCalls(this.app.data, this.scope(), calls);
        const {rows} = weightsOf(this.app.data, {...this.scope(), event: 0, measure: 'count'}, selected);
        return `${countOf(rows, 'sample')} inside${rows < FEW_SAMPLES ? ': too few to trust' : ''}.`;
    }

    // --- The kept range beside the selected one: shares of functions.

    sharesOf(calls) {
        const {data, derivations, functions} = this.app, {selected} = selectCalls(data, this.scope(), calls);
        const sums = weightsOf(data, this.scope(), selected), {tree, map, outer} = derivations.treeOf(this.app.state.steps);
        const {self} = moveWeights(sums.self, map, tree.count);
        const rows = functionTable(tree, self, totalsOf(tree, self), outer, functions.count);
        return {total: sums.total, rows: new Map(rows.map((row) => [row.func, row.self]))};
    }
    comparison(func) {
        const {calls} = this.app.state, {kept} = this;
        if (!kept || !calls || calls.func !== func) return null;
        const [a, b] = [this.sharesOf(kept), this.sharesOf(calls)], all = new Set([...a.rows.keys(), ...b.rows.keys()]);
        const share = (side, f) => side.total > 0 ? (side.rows.get(f) || 0) / side.total : 0;
        const rows = [...all].map((f) => ({f, a: share(a, f), b: share(b, f)})).sort((x, y) => Math.abs(y.b - y.a) - Math.abs(x.b - x.a)).slice(0, 10);
        const body = rows.map((row) => el('tr', {}, el('td', {class: 'number', text: formatShare(row.a, 1)}), el('td', {class: 'number', text: formatShare(row.b, 1)}),
            el('td', {class: 'number', text: `${row.b >= row.a ? '▲ +' : '▼ −'}${(100 * Math.abs(row.b - row.a)).toFixed(1)} pp`}), el('td', {text: shortName(this.app.functions.nameOf(row.f), 60)})));
        const head = ['kept', 'chosen', 'change', 'function (self)'].map((text, i) => el('th', {scope: 'col', class: i < 3 ? 'number' : '', text}));
        return el('table', {class: 'comparison', 'aria-label': 'Kept and chosen calls'}, el('caption', {text: `${this.rangeText(kept)} beside ${this.rangeText(calls)}`}),
                  el('thead', {}, el('tr', {}, ...head)), el('tbody', {}, ...body));
    }
    rangeText({func, low, high}) {
        return `${this.app.functions.nameOf(func)} ${formatTime(low)} to ${high === Infinity ? 'the longest' : formatTime(high)}`;
    }

    // --- The calls by caller, and the slowest calls.

    byCaller(found) {
        if (found.length > MANY_CALLS && this.callersOf !== this.app.state.func)
            return el('button', {text: 'By caller', onclick: () => { this.callersOf = this.app.state.func; this.render(); }});
        const all = distributionsByCaller(this.app.data, found), shown = all.slice(0, CALLERS_MOST);
        const rows = shown.map((row) => el('tr', {}, ...HEADS_OF_CALLERS.map(([, value], i) => el('td', {class: 'number', 'data-value': value(row), text: i ? formatTime(value(row)) : groupDigits(value(row))})),
            el('td', {class: 'name', text: row.caller < 0 ? '(no caller recorded)' : shortName(this.app.functions.nameOf(row.caller), 60)})));
        const head = [...HEADS_OF_CALLERS.map(([name]) => el('th', {scope: 'col', class: 'number', text: name})), el('th', {scope: 'col', text: 'caller'})];
        return el('table', {class: 'by-caller', 'aria-label': 'Calls by caller'}, el('caption', {text: all.length > CALLERS_MOST ? `By caller, ${CALLERS_MOST} of ${groupDigits(all.length)}` : 'By caller'}),
                  el('thead', {}, el('tr', {}, ...head)), el('tbody', {}, ...rows));
    }

    slowest(found) {
        const {calls} = this.app.data, rows = slowestCalls(this.app.data, found, SLOWEST).map((i) => el('tr', {},
            el('td', {class: 'number', text: formatTime(calls.duration[i])}), el('td', {class: 'number', text: formatTime(calls.start[i] - this.app.extent.begin)}),
            el('td', {}, this.app.threadName(threadOfCall(this.app.data, i)), isNested(this.app.data, i) ? el('small', {class: 'source', text: ' nested', title: 'inside another call of this function'}) : null),
            el('td', {}, el('button', {text: 'show', title: 'select this call and what it called', onclick: () => this.app.showCall(i)}))));
        const head = ['duration', 'at', 'thread', ''].map((text, i) => el('th', {scope: 'col', class: i < 2 ? 'number' : '', text}));
        return el('table', {class: 'slowest', 'aria-label': 'Slowest calls'}, el('caption', {text: found.length > SLOWEST ? `Slowest calls, ${SLOWEST} of ${groupDigits(found.length)}` : 'Slowest calls'}), el('thead', {}, el('tr', {}, ...head)), el('tbody', {}, ...rows));
    }
}

// SPDX-License-Identifier: Apache-2.0
// The panel beside the views: details of the selected function or frame.
import {KIND_NAMES} from './colours.js';
import {el, fill} from './dom.js';
import {formatShare, formatTime, formatWeight, groupDigits, shortName} from './format.js';
import {callsOfRecording} from './latencies.js';
import {NO_CALLER, noCallerHint} from './sandwich_view.js';
import {isOfCommand} from './thread_rows.js';
import {callersOf, invertedChildren, pathOf} from './tree.js';

const LISTED = 8;
const THREADS_LISTED = 12;
const MARKS_LISTED = 200;
const TEXT_MOST = 120;

export class DetailsView {
    constructor(app) {
        this.app = app;
        this.element = el('aside', {class: 'details', 'aria-label': 'Details', tabindex: '0'});
    }
    render() {
        const {func} = this.app.state, view = this.app.view();
        if (func === null) return fill(this.element, this.taller(), ...this.selection(view));
        return fill(this.element, this.taller(), el('h2', {text: this.app.functions.nameOf(func)}), this.facts(func, view), this.list('Callers', this.callers(func, view), func),
                    this.list('Callees', this.callees(func, view), func), this.threads(func), this.stack(view));
    }
    // On narrow pages the details are a sheet at the bottom, which this button makes taller.
    taller() {
        const {classList} = this.element, isTall = classList.contains('tall');
        return el('button', {class: 'taller', 'aria-expanded': String(isTall), text: isTall ? 'less ▾' : 'more ▴', onclick: () => { classList.toggle('tall'); this.app.renderPanel(); }});
    }
    term(name, value) {
        return value === '' || value === null ? [] : [el('dt', {text: name}), el('dd', {text: value})];
    }
    // The number of selected samples or calls that steps have left.
    rowsLeft(view) {
        const {state} = this.app;
        return state.steps.length ? this.app.derivations.of({...state, measure: 'count'}).total[0] : view.rows;
    }
    selection(view) {
        const unit = this.app.unit(), event = this.app.data.meta.events[this.app.state.event];
        return [el('h2', {text: 'Selection'}), el('dl', {}, ...this.term('event', event.name), ...this.term(event.traced ? 'calls' : 'samples', groupDigits(this.rowsLeft(view)) + (event.traced ? this.omitted() : '')),
            ...this.term('weight', formatWeight(view.total[0], unit)), ...this.term('removed by steps', view.dropped ? `${formatWeight(view.dropped, unit)}, ${formatShare(view.dropped, view.all)}` : ''),
            ...this.term('functions', groupDigits(this.app.table().length))),
        el('p', {class: 'dim', text: 'Select a frame to see its object, source, callers and callees. Press ? for all keys.'}), this.threads(null), this.marks()];
    }
    // " of 12 787 668 in the recording" if the page omits calls.
    omitted() {
        const {data, state} = this.app;
        return data.meta.call_least ? ` of ${groupDigits(callsOfRecording(data, state))} in the recording; those shorter than ${formatTime(data.meta.call_least)} are left out` : '';
    }
    // Logged events and losses of the selection.
    marks() {
        const {app} = this, chosen = app.marks.within(app.state), title = app.marks.logged ? 'Events and losses' : 'Losses';
        if (!app.marks.count) return null;
        const rest = chosen.length - Math.min(chosen.length, MARKS_LISTED);
        return el('section', {'aria-label': title}, el('h3', {text: `${title}: ${groupDigits(chosen.length)}`}),
                  el('table', {class: 'marks'}, el('thead', {}, el('tr', {}, ...['time', 'kind', 'text'].map((text) => el('th', {scope: 'col', text})))),
                     el('tbody', {}, ...chosen.slice(0, MARKS_LISTED).map((i) => this.markRow(i)))),
                  rest ? el('p', {class: 'dim', text: `and ${groupDigits(rest)} more: select a shorter time to see them`}) : null);
    }
    markRow(i) {
        const {app} = this, full = app.describeMark(i), text = app.marks.text(i), show = () => app.timeline.showMark(i);
        return el('tr', {title: full, class: app.marks.isLogged(i) ? 'logged' : 'loss'},
                  el('td', {class: 'number'}, el('button', {class: 'link', 'aria-label': full, text: app.marks.when(i, app.extent.begin), onclick: show, onfocus: show})),
                  el('td', {text: app.marks.kindName(i)}), el('td', {class: 'text', text: text.length > TEXT_MOST ? text.slice(0, TEXT_MOST) + '…' : text}));
    }
    facts(func, view) {
        const {functions} = this.app, object = functions.objectOf(func), unit = this.app.unit(), row = this.app.rowOf(func);
        const line = this.app.state.node ? view.tree.line[this.app.state.node] : 0, address = functions.addressOf(func);
        return el('dl', {}, ...this.term('self', `${formatWeight(row.self, unit)}, ${formatShare(row.self, view.total[0])} of selection`),
                  ...this.term('total', `${formatWeight(row.total, unit)}, ${formatShare(row.total, view.total[0])} of selection`),
                  ...this.term('this stack', this.app.state.node ? formatWeight(view.total[this.app.state.node], unit) : ''),
                  ...this.term('ratio', this.ratio(func)), ...this.term('kind', KIND_NAMES[functions.kindOf(func)]), ...this.term('object', functions.objectPath(object)),
                  ...this.term('build id', functions.buildId(object)), ...this.term('source', functions.sourceOf(func) || this.app.functions.lacksLines()), ...this.term('this call at line', line || ''),
                  ...this.term('address', address), ...this.term('name from', functions.nameSource(func)));
    }
    ratio(func) {
        const ratios = this.app.state.colour === 'ratio' ? this.app.derivations.ratiosOf(this.app.state) : null;
        return ratios && ratios.of.has(func) ? `${ratios.of.get(func).toPrecision(3)} ${ratios.names.join(' per ')} (all: ${ratios.all.toPrecision(3)})` : '';
    }
    callers(func, view) {
        const root = callersOf(view.tree, view.total, view.outer, func);
        return invertedChildren(view.tree, root).map((node) => ({func: node.func, weight: node.total}));
    }
    // Direct callees of a function's outermost frames.
    callees(func, view) {
        const sums = new Map();
        for (let i = 1; i < view.tree.count; i++) {
            const parent = view.tree.parent[i];
            if (parent > 0 && view.tree.func[parent] === func && view.outer[parent] && view.total[i] > 0)
                sums.set(view.tree.func[i], (sums.get(view.tree.func[i]) || 0) + view.total[i]);
        }
        return [...sums].map(([callee, weight]) => ({func: callee, weight})).sort((a, b) => b.weight - a.weight || a.func - b.func);
    }
    list(title, rows, func) {
        if (!rows.length) return null;
        const whole = this.app.rowOf(func).total, first = rows.slice(0, LISTED), last = rows[rows.length - 1], items = [...first, ...(last.func === null && !first.includes(last) ? [last] : [])].map((row) => el('li', {},
            row.func === null ? el('span', {class: 'dim', title: NO_CALLER + noCallerHint(this.app.functions, func), text: NO_CALLER})
                : el('button', {class: 'link', title: this.app.functions.nameOf(row.func), text: shortName(this.app.functions.nameOf(row.func), 34), onclick: () => this.app.select(row.func, null)}),
            el('span', {class: 'share', text: formatShare(row.weight, whole)})));
        const rest = rows.length > items.length ? el('li', {class: 'dim', text: `and ${groupDigits(rows.length - items.length)} more`}) : null;
        return el('section', {'aria-label': title}, el('h3', {text: title}), el('ul', {}, ...items, ...(rest ? [rest] : [])));
    }
    // Threads by weight, of a function or of the selection. The list of a function omits threads that do not run it;
    // that of the selection includes idle threads.
    threads(func) {
        const {app} = this, unit = app.unit(), rows = app.threadWeights(func).filter((row) => row.weight > 0 || func === null), whole = rows.reduce((sum, row) => sum + row.weight, 0);
        if (app.data.threads.count < 2 || !rows.length) return null;
        const shown = rows.length > THREADS_LISTED ? rows.slice(0, THREADS_LISTED) : rows, rest = rows.length - shown.length;
        const items = shown.map(({thread, weight}) => el('li', isOfCommand(app.data, thread) ? {class: 'of-command', title: 'of the recorded command'} : {},
            el('button', {class: 'link', text: app.threadName(thread), title: `choose this thread, ${formatWeight(weight, unit)}`, onclick: () => app.change({threads: new Set([thread])})}),
            el('span', {class: 'share', text: weight > 0 || !app.isIdle(thread) ? formatShare(weight, whole) : 'idle'})));
        return el('section', {'aria-label': 'Threads'}, el('h3', {text: 'Threads'}), el('ul', {}, ...items, ...(rest ? [el('li', {class: 'dim', text: `and ${groupDigits(rest)} more`})] : [])));
    }
    stack(view) {
        const {node} = this.app.state;
        if (!node || node >= view.tree.count) return null;
        const items = pathOf(view.tree, node).reverse().map((func) => el('li', {text: this.app.functions.nameOf(func)}));
        return el('section', {}, el('h3', {text: 'Stack'}), el('ol', {class: 'stack'}, ...items));
    }
}

// SPDX-License-Identifier: Apache-2.0
// Why threads wait in the selected time: a bar for each thread, and the largest waits with the threads that ended them. A
// wait can be shown in the timeline.
import {el, fill} from './dom.js';
import {countOf, formatRange, formatShare, formatTime, groupDigits, shortName, visibleText} from './format.js';
import {NO_CALLER} from './sandwich_view.js';
import {isOfCommand} from './thread_rows.js';
import {BLOCKED, groupsOfWaits, libraryNote, partsOf, RUNNABLE, RUNNING, threadSums, UNKNOWN, waitsWithin} from './waits.js';

const WAITS_MOST = 200;
const PARTS_MOST = 8;
const WAIT_HEADS = [['time', 'number'], ['cause', 'text'], ['function', 'text'], ['ended by', 'text'], ['threads', 'text'], ['share', 'number spare'], ['count', 'number spare'], ['longest', 'number spare'], ['', 'text']];

export class WaitsView {
    constructor(app) {
        this.app = app;
        this.chosen = null; // key of a group
        this.waits = app.data.waits;
        this.threads = el('div', {class: 'wait-threads', tabindex: '0', role: 'group', 'aria-label': 'States by thread'});
        this.list = el('div', {class: 'wait-list', tabindex: '0', role: 'group', 'aria-label': 'Largest waits: up and down choose, Enter shows in the timeline', onkeydown: (event) => this.key(event)});
        this.keys = this.list; // takes the focus
        this.element = el('div', {class: 'waits', role: 'tabpanel', 'aria-label': 'Waits'}, this.threads, this.list);
    }
    render() {
        const {data, state} = this.app;
        this.within = state.time ? waitsWithin(data.waits, data.intervals, state.time) : null;
        this.waits = this.within || data.waits;
        this.groups = groupsOfWaits(this.waits, state.threads);
        this.rows = this.groups.slice(0, WAITS_MOST);
        this.hasWakers = data.waits.waker.some((waker) => waker >= 0);
        this.renderThreads(state);
        this.renderWaits(state);
    }

    // --- The largest waits.

    renderWaits(state) {
        const whole = this.groups.reduce((sum, row) => sum + row.ns - row.open, 0), rest = this.groups.length - this.rows.length;
        const of = state.threads ? countOf(state.threads.size, 'chosen thread') : 'all threads';
        const about = el('p', {class: 'dim about', text: `Waits of ${of}${this.timeText(state)}: ${formatTime(whole)} blocked or waiting for a CPU, in waits that ended`});
        const heads = WAIT_HEADS.map(([text, kind]) => el('th', {scope: 'col', class: kind, text}));
        const note = libraryNote(this.app.data.meta, this.waits, state.threads);
        fill(this.list, about, note ? el('p', {class: 'dim about', text: note}) : null, el('table', {'aria-label': 'Waits'}, el('thead', {}, el('tr', {}, ...heads)), el('tbody', {}, ...this.rows.flatMap((row) => row.key === this.chosen ? [this.row(row, whole), this.more(row)] : [this.row(row, whole)]))),
             rest > 0 ? el('p', {class: 'dim', text: `${groupDigits(rest)} shorter ones are not listed.`}) : null,
             this.rows.length ? null : el('p', {class: 'empty', text: `These threads did not wait${this.within ? ' in this time' : ''}.`}));
    }
    // The range of time that the sums cover, as in the chip, and how exact the times are.
    timeText({time}) {
        const {begin} = this.app.extent, {quantum, least} = this.app.data.intervals;
        if (!this.within) return time ? ', in the whole recording' : '';
        return ` from ${formatRange(time[0] - begin, time[1] - begin)}${least ? `, without states shorter than ${formatTime(least)}` : ''}${quantum > 1 ? `, times to ${formatTime(quantum)}` : ''}`;
    }
    name(func) { return func < 0 ? '' : this.app.functions.nameOf(func); }
    // The function with the line where it waited longest.
    place({func, inLibrary, lines}) {
        const name = this.name(func), file = lines.length ? visibleText(this.app.data.strings.get(this.app.data.funcs.file[func])) : '';
        const title = [name, ...lines.slice(0, 10).map(([line, ns]) => `${formatTime(ns)} ${file}:${line}`), ...(inLibrary ? [`in the C library; ${NO_CALLER}`] : [])].join('\n');
        return el('td', {class: 'name', title}, shortName(name, lines.length || inLibrary ? 36 : 60) || 'not recorded',
                  lines.length ? el('small', {class: 'source', text: ` ${file.slice(file.lastIndexOf('/') + 1)}:${lines[0][0]}${lines.length > 1 ? ` +${lines.length - 1}` : ''}`}) : null,
                  inLibrary ? el('small', {class: 'source spare', text: ` ${NO_CALLER}`}) : null);
    }
    row(row, whole) {
        const name = this.name(row.func), chosen = row.key === this.chosen, time = row.ns > row.open ? row.ns - row.open : row.ns, number = (kind, text, value) => el('td', {class: kind, 'data-value': value, text});
        const show = el('button', {text: 'show', 'aria-label': `Show the longest ${row.cause} wait in ${name || 'an unknown function'} in the timeline`,
                                   title: 'the longest of these waits, in the timeline', onclick: (event) => { event.stopPropagation(); this.show(row); }});
        return el('tr', {class: chosen ? 'chosen' : '', 'data-wait': row.key, 'aria-selected': String(chosen), onclick: () => this.toggle(row), oncontextmenu: (event) => this.openMenu(event, row)},
            number('number', formatTime(time), time),
            el('td', {class: 'cause'}, el('i', {class: `swatch by-${row.cause}`}), row.condition ? 'lock: condition variable' : row.cause), this.place(row),
            this.waker(row), el('td', {text: row.threads.size === 1 ? this.app.threadName(row.thread) : `${row.threads.size} threads`}),
            el('td', {class: 'number share spare', text: row.ns > row.open ? formatShare(row.ns - row.open, whole) : 'not ended',
                      title: row.open && row.ns > row.open ? `and ${formatTime(row.open)} of waits that did not end in the recording` : ''}),
            number('number spare', groupDigits(row.number), row.number), number('number spare', formatTime(row.longest), row.longest), el('td', {}, show));
    }
    waker({cause, func, wakers}) {
        if (func === this.app.data.meta.rest_func) return el('td', {class: 'dim', text: 'several', title: 'small waits: merged so that the page stays small'});
        if (cause === 'runnable') return el('td', {class: 'dim', text: 'a CPU became free'});
        if (!wakers.length) return el('td', {class: 'dim', text: cause === 'timer' ? 'time' : this.hasWakers ? 'no thread' : 'not recorded'});
        const [thread, function_] = wakers[0], by = this.name(function_), more = wakers.length > 1 ? ` +${wakers.length - 1}` : '';
        const title = wakers.slice(0, 10).map(([t, f, ns]) => `${formatTime(ns)} ${this.app.threadName(t)} ${this.name(f)}`).join('\n');
        return el('td', {class: 'waker', title}, this.app.threadName(thread), by ? el('span', {class: 'name', text: ` ${shortName(by, 40)}`}) : null, more ? el('span', {class: 'dim', text: more}) : null);
    }
    // A row below the chosen one: all its threads, wakers and lines, with the time of each.
    more(row) {
        const {app} = this, name = this.name(row.func), file = visibleText(app.data.strings.get(row.func >= 0 ? app.data.funcs.file[row.func] : 0)), share = (ns) => `${formatTime(ns)}, ${formatShare(ns, row.ns)}`;
        const list = (title, items) => items.length ? el('section', {'aria-label': title}, el('h3', {text: title}), el('ul', {}, ...items.slice(0, PARTS_MOST).map(([what, ns]) => el('li', {}, what, el('span', {class: 'share', text: share(ns)}))),
                                                    items.length > PARTS_MOST ? el('li', {class: 'dim', text: `and ${groupDigits(items.length - PARTS_MOST)} more`}) : null)) : null;
        const threads = [...row.threads].map(([thread, ns]) => [el('button', {class: 'link', text: app.threadName(thread), title: 'choose this thread', onclick: (event) => app.chooseThread(thread, event)}), ns]);
        const show = el('button', {text: 'Longest in the timeline', title: 'Enter does the same', onclick: () => this.show(row)}), open = name ? el('button', {text: 'Callers & callees', title: `of ${name}`, onclick: () => app.showPanel('sandwich')}) : null;
        return el('tr', {class: 'more'}, el('td', {colspan: WAIT_HEADS.length}, el('div', {}, el('section', {'aria-label': 'Function'}, el('h3', {text: name || 'not recorded'}), show, open), list('Waiting threads', threads),
            list('Ended by', row.wakers.map(([thread, func, ns]) => [el('span', {text: `${app.threadName(thread)} ${this.name(func)}`}), ns])), list('Lines', row.lines.map(([line, ns]) => [el('span', {text: `${file}:${line}`}), ns])))));
    }
    openMenu(event, row) {
        if (row.func < 0) return;
        event.preventDefault();
        this.choose(row);
        this.app.openMenu(event.clientX, event.clientY);
    }
    // A second click closes the row.
    toggle(row) {
        if (row.key !== this.chosen) return this.choose(row);
        this.chosen = null;
        this.render();
    }
    choose(row) {
        this.chosen = row.key;
        if (row.func >= 0 && row.func !== this.app.state.func) this.app.select(row.func, null);
        else this.render();
    }
    show(row) {
        this.chosen = row.key;
        this.app.showWait({thread: row.thread, waker: row.waker, start: row.start, end: row.start + row.longest});
    }
    key(event) {
        const by = {ArrowDown: 1, ArrowUp: -1, Home: -Infinity, End: Infinity}[event.key], at = this.rows.findIndex((row) => row.key === this.chosen);
        if (event.target !== this.list || (!by && event.key !== 'Enter')) return;
        event.preventDefault();
        event.stopPropagation();
        if (event.key === 'Enter' && at >= 0) this.show(this.rows[at]);
        if (!by || !this.rows.length) return;
        this.choose(this.rows[Math.max(0, Math.min(this.rows.length - 1, at + by))]);
        const row = this.list.querySelector('tr.chosen');
        if (!row) return;
        row.scrollIntoView({block: 'nearest'});
        this.app.hover([...row.cells].slice(0, 8).map((cell) => cell.textContent).join(', '));
    }

    // --- Threads.

    renderThreads(state) {
        const rows = threadSums(this.waits, this.app.data), longest = Math.max(...rows.map((row) => row.wall), 1);
        this.hasUnknown = rows.some((row) => row.states[UNKNOWN] > 0);
        const heads = [['thread', false], ['wall time', false], ['running', true], ['runnable', true], ['blocked', true], ...(this.hasUnknown ? [['unknown', true]] : [])].map(([text, number]) => el('th', {scope: 'col', class: number ? 'number' : 'text', text}));
        const shown = rows.slice(0, WAITS_MOST).map((row) => this.threadRow(row, longest, state)), rest = rows.length - shown.length;
        fill(this.threads, el('table', {'aria-label': 'States by thread'}, el('caption', {}, `States by thread${this.timeText(state)}: `, ...this.legend(rows)), el('thead', {}, el('tr', {}, ...heads)), el('tbody', {}, ...shown)),
             rest > 0 ? el('p', {class: 'dim', text: `${groupDigits(rest)} more threads are not listed.`}) : null);
    }
    legend(rows) {
        const names = new Set(rows.flatMap((row) => partsOf(row).map(([name]) => name)));
        return [...names].map((name) => el('span', {class: 'part'}, el('i', {class: `swatch by-${name}`}), name));
    }
    threadRow(row, longest, state) {
        const parts = partsOf(row), text = parts.map(([name, ns]) => `${name} ${formatTime(ns)}, ${formatShare(ns, row.wall)}`).join('; '), chosen = Boolean(state.threads && state.threads.has(row.thread));
        const bar = el('div', {class: 'bar-of', role: 'img', 'aria-label': text, title: text}, ...parts.map(([name, ns]) => this.part(name, ns, longest)));
        const number = (ns) => el('td', {class: 'number', 'data-value': ns}, `${formatTime(ns)} `, el('span', {class: 'share', text: formatShare(ns, row.wall)})), name = this.app.threadName(row.thread);
        return el('tr', {class: [chosen ? 'chosen' : '', isOfCommand(this.app.data, row.thread) ? 'of-command' : ''].join(' ').trim(), 'data-thread': row.thread, 'data-parts': JSON.stringify(Object.fromEntries(parts))},
                  el('td', {}, el('button', {class: 'link', text: name, title: chosen && state.threads.size === 1 ? 'show all threads' : 'show the waits of this thread', 'aria-pressed': String(chosen), onclick: (event) => this.app.chooseThread(row.thread, event)})),
                  el('td', {class: 'wide'}, bar), number(row.states[RUNNING]), number(row.states[RUNNABLE]), number(row.states[BLOCKED]), this.hasUnknown ? number(row.states[UNKNOWN]) : null);
    }
    part(name, ns, longest) {
        const part = el('i', {class: `by-${name}`});
        part.style.width = `${100 * ns / longest}%`;
        return part;
    }
    // All sums, for tests and scripts.
    facts() {
        const {waits} = this, {threads} = this.app.data;
        return {note: libraryNote(this.app.data.meta, waits, this.app.state.threads), threads: threadSums(waits, this.app.data).map((row) => ({tid: threads.tid[row.thread], pid: threads.pid[row.thread], states: row.states, reasons: Object.fromEntries(row.reasons)})),
                groups: groupsOfWaits(waits, null).map((row) => ({cause: row.cause, name: this.name(row.func), ns: row.ns, closed: row.ns - row.open, lines: row.lines, inLibrary: row.inLibrary, number: row.number, longest: row.longest,
                                                                  wakers: row.wakers.map(([thread, func, ns]) => ({tid: threads.tid[thread], name: this.name(func), ns}))}))};
    }
    // The waits as tab-separated values, in the order shown.
    tsv() {
        const clean = (text) => text.replace(/[\t\n]/g, ' ');
        return ['ns\tcount\tlongest_ns\tcause\tfunction\tline\tthreads\tthread_names\twaker\twaker_function', ...this.groups.map((row) =>
            [row.ns, row.number, row.longest, row.cause, clean(this.name(row.func)), row.lines.length ? row.lines[0][0] : '', row.threads.size, clean([...row.threads.keys()].map((thread) => this.app.threadName(thread)).join(', ')),
             ...(row.wakers.length ? [clean(this.app.threadName(row.wakers[0][0])), clean(this.name(row.wakers[0][1]))] : ['', ''])].join('\t'))].join('\n') + '\n';
    }
}

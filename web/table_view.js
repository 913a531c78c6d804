// SPDX-License-Identifier: Apache-2.0
// The table of functions: self, total, function, object. The document contains only the rows in view.
import {el, fill, onceAFrame} from './dom.js';
import {formatShare, formatWeight, shortName} from './format.js';

const ROW_HEIGHT = 24;
const SPARE = 10;

const COLUMNS = [
    {id: 'self', text: 'self', number: true, compare: (a, b) => b.self - a.self},
    {id: 'total', text: 'total', number: true, compare: (a, b) => b.total - a.total},
    {id: 'name', text: 'function', compare: (a, b, f) => f.nameOf(a.func).localeCompare(f.nameOf(b.func), 'en')},
    {id: 'object', text: 'object', compare: (a, b, f) => f.objectName(f.objectOf(a.func)).localeCompare(f.objectName(f.objectOf(b.func)), 'en')},
];

export class TableView {
    constructor(app, {compact = false} = {}) {
        this.app = app;
        this.columns = compact ? COLUMNS.slice(0, 3) : COLUMNS;
        this.sort = {by: 'total', down: true};
        this.heads = this.columns.map((column) => this.head(column));
        this.body = el('tbody');
        this.table = el('table', {'aria-label': 'Functions'}, el('thead', {}, el('tr', {}, ...this.heads)), this.body);
        this.element = el('div', {class: compact ? 'functions compact' : 'functions', role: compact ? 'group' : 'tabpanel',
                                  'aria-label': compact ? 'Functions' : 'Table', tabindex: '0'}, this.table);
        this.fillRows = onceAFrame(() => this.showRows());
        this.element.addEventListener('scroll', this.fillRows);
        this.element.addEventListener('keydown', (event) => this.key(event));
    }
    head(column) {
        const button = el('button', {text: column.text, onclick: () => this.sortBy(column.id)});
        return el('th', {scope: 'col', class: column.number ? 'number' : 'text', 'data-column': column.id}, button);
    }
    sortBy(id) {
        this.sort = {by: id, down: this.sort.by === id ? !this.sort.down : true};
        this.sorted = null;
        this.element.scrollTop = 0; // the first rows are those that were asked for
        this.render();
    }
    sortRows() {
        const view = this.app.view(), {compare} = COLUMNS.find((column) => column.id === this.sort.by), sign = this.sort.down ? 1 : -1;
        if (this.sorted && this.sortedOf === view) return;
        this.sortedOf = view;
        this.sorted = this.app.table().slice().sort((a, b) => sign * compare(a, b, this.app.functions) || a.func - b.func);
    }
    render() {
        this.sortRows();
        for (const head of this.heads)
            head.setAttribute('aria-sort', head.dataset.column !== this.sort.by ? 'none' : this.sort.down ? 'descending' : 'ascending');
        this.table.setAttribute('aria-rowcount', this.sorted.length + 1);
        this.showRows();
        this.reveal();
    }
    // Scrolls to a function that was selected elsewhere, such as by the search.
    reveal() {
        const {func} = this.app.state, at = this.revealed === func ? -1 : this.sorted.findIndex((row) => row.func === func);
        if (this.element.clientHeight) this.revealed = func;
        if (at < 0) return;
        const top = at * ROW_HEIGHT, room = this.element.clientHeight - 2 * ROW_HEIGHT, {scrollTop} = this.element;
        if (top >= scrollTop && top <= scrollTop + room) return;
        this.element.scrollTop = top < scrollTop ? top : top - room / 2;
        this.showRows();
    }
    showRows() {
        if (!this.sorted) return;
        const room = Math.max(this.element.clientHeight, 400), from = Math.max(0, Math.floor(this.element.scrollTop / ROW_HEIGHT) - SPARE);
        const to = Math.min(this.sorted.length, from + Math.ceil(room / ROW_HEIGHT) + 2 * SPARE);
        const rows = this.sorted.slice(from, to).map((row, i) => this.row(row, from + i));
        fill(this.body, this.spacer(from), ...rows, this.spacer(this.sorted.length - to));
        if (!this.sorted.length) fill(this.body, el('tr', {}, el('td', {colspan: this.columns.length, text: this.app.emptyReason()})));
    }
    spacer(rows) {
        if (rows <= 0) return null;
        const spacer = el('tr', {class: 'spacer', 'aria-hidden': 'true'}, el('td')); // one cell: on narrow pages a column is hidden
        spacer.style.height = `${rows * ROW_HEIGHT}px`;
        return spacer;
    }
    row(row, at) {
        const {functions} = this.app, chosen = row.func === this.app.state.func, search = this.app.search();
        const classes = [chosen ? 'chosen' : '', search && search.marked && search.marked[row.func] ? 'hit' : ''].join(' ').trim();
        const cells = {self: this.weightCell(row.self), total: this.weightCell(row.total),
                       name: el('td', {class: 'name', title: functions.nameOf(row.func), text: shortName(functions.nameOf(row.func), 200)}),
                       object: el('td', {class: 'object', title: functions.objectPath(functions.objectOf(row.func)),
                                         text: functions.objectName(functions.objectOf(row.func))})};
        return el('tr', {class: classes, 'aria-rowindex': at + 2, 'aria-selected': String(chosen), 'data-func': row.func,
                         onclick: () => this.app.select(row.func, null), ondblclick: () => this.app.showPanel('sandwich'),
                         oncontextmenu: (event) => this.openMenu(event, row)}, ...this.columns.map((column) => cells[column.id]));
    }
    weightCell(weight) {
        const whole = this.app.view().total[0];
        return el('td', {class: 'number', 'data-weight': weight}, el('span', {class: 'weight', text: `${formatWeight(weight, this.app.unit())} `}),
                  el('span', {class: 'share', text: formatShare(weight, whole)}));
    }
    openMenu(event, row) {
        event.preventDefault();
        this.app.select(row.func, null);
        this.app.openMenu(event.clientX, event.clientY);
    }
    key(event) {
        const moves = {ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20, Home: -Infinity, End: Infinity};
        if (event.key === 'Enter') this.app.showPanel('sandwich');
        else if (event.key in moves) this.move(moves[event.key]);
        else return;
        event.preventDefault();
        event.stopPropagation();
    }
    move(by) {
        if (!this.sorted.length) return;
        const at = this.sorted.findIndex((row) => row.func === this.app.state.func);
        const next = Math.max(0, Math.min(this.sorted.length - 1, at + by));
        const top = next * ROW_HEIGHT, room = this.element.clientHeight - 2 * ROW_HEIGHT;
        if (top < this.element.scrollTop) this.element.scrollTop = top;
        if (top > this.element.scrollTop + room) this.element.scrollTop = top - room;
        this.revealed = this.sorted[next].func;
        this.app.select(this.sorted[next].func, null);
    }
    // The rows as tab-separated values, in the order shown.
    tsv() {
        const {functions} = this.app, clean = (text) => text.replace(/[\t\n]/g, ' '), unit = clean(this.app.unitName());
        return [`self_${unit}\ttotal_${unit}\tfunction\tobject`, ...this.sorted.map((row) =>
            [row.self, row.total, clean(functions.nameOf(row.func)), clean(functions.objectName(functions.objectOf(row.func)))].join('\t'))].join('\n') + '\n';
    }
}

// SPDX-License-Identifier: Apache-2.0
/*
 * Answers ClickHouse's HTTP requests with chdb, a current ClickHouse as a library: queries in the URL or the body, tables
 * that are sent with a query, and rows to insert.
 *
 *     node chdb_server.js MODULES FOLDER     MODULES: node_modules with chdb; prints the port, and serves until it is killed
 *
 * Requests are handled one by one, because the table `ids` of a query is a table of the database `default`.
 */
'use strict';
const fs = require('fs'), http = require('http'), path = require('path');
const [modules, folder] = process.argv.slice(2);
const {Session} = require(path.join(modules, 'chdb'));
const session = new Session(path.join(folder, 'data'));
const body_file = path.join(folder, 'body');

function part_of(body, type) {
    const boundary = Buffer.from('\r\n--' + /boundary=(.*)/.exec(type)[1]);
    const begin = body.indexOf('\r\n\r\n') + 4;
    return body.subarray(begin, body.indexOf(boundary, begin));
}

async function answer(request, body) {
    const given = new URL(request.url, 'http://localhost').searchParams, type = request.headers['content-type'] || '';
    let query = given.get('query') || '';
    if (type.startsWith('multipart/')) {
        fs.writeFileSync(body_file, part_of(body, type));
        await session.queryAsync(`CREATE OR REPLACE TABLE default.ids ENGINE = Memory AS SELECT * FROM file('${body_file}', '${
            given.get('ids_format')}', '${given.get('ids_structure')}')`);
        query = query.replace(/\bFROM ids\b/g, 'FROM default.ids');
    } else if (/^INSERT .* FORMAT Native$/s.test(query)) {
        fs.writeFileSync(body_file, body);
        query = query.replace(/ (?:VALUES )?FORMAT Native$/, ` SELECT * FROM file('${body_file}', 'Native')`);
    } else {
        query += body.toString();
    }
    session.query(`USE \`${given.get('database') || 'default'}\``);
    if (request.method === 'GET')
        query = `${query} SETTINGS readonly = 1`;
    const format = /\bFORMAT (\w+)\s*$/.exec(query);
    const result = await session.queryAsync(format ? query.slice(0, format.index) : query,
        {format: format ? format[1] : given.get('default_format') || 'TabSeparated'});
    return result.bytes();
}

async function handle(request, response) {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    try {
        const bytes = await answer(request, Buffer.concat(chunks));
        response.writeHead(200, {'Content-Length': bytes.length});
        response.end(Buffer.from(bytes));
    } catch (error) {
        response.writeHead(500);
        response.end(/^Code: /.test(error.message) ? error.message : `Code: ${error.clickhouseCode || 1}. DB::Exception: ${error.message}`);
    }
}

let last = Promise.resolve();
const server = http.createServer((request, response) => { last = last.then(() => handle(request, response)); });
server.listen(0, '127.0.0.1', () => console.log(server.address().port));

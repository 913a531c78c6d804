// SPDX-License-Identifier: Apache-2.0
// read_parquet.mjs NODE_MODULES duckdb|hyparquet FOLDER - sums of the Parquet files of `perfray export --format=parquet` as JSON.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import path from 'node:path';

const [modules, reader, folder] = process.argv.slice(2);
const file = (name) => path.join(folder, name + '.parquet');

async function byDuckdb() {
  const require = createRequire(path.join(path.resolve(modules), 'x.js'));
  const { DuckDBInstance } = require('@duckdb/node-api');
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  return async (name) => {
    const rows = await connection.runAndReadAll(`select * from '${file(name).replaceAll("'", "''")}'`);
    return rows.getRowObjects();
  };
}

async function byHyparquet() {
  const load = (name) => import(pathToFileURL(path.join(path.resolve(modules), name)));
  const { parquetReadObjects } = await load('hyparquet/src/index.js');
  const { compressors } = await load('hyparquet-compressors/src/index.js');
  return async (name) => {
    const bytes = readFileSync(file(name));
    const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
    return parquetReadObjects({ file: buffer, compressors });
  };
}

const read = await (reader === 'duckdb' ? byDuckdb() : byHyparquet());
const sum = (rows, column) => String(rows.reduce((total, row) => total + BigInt(row[column] ?? 0), 0n));
const samples = await read('sample');
const calls = await read('call');
const frames = await read('frame');
const threads = await read('thread');
const stacks = await read('stack');
const comms = {};
for (const row of samples) comms[row.comm] = (comms[row.comm] ?? 0) + 1;
for (const row of stacks)
  if (row.parent_id >= row.id) throw new Error('a parent behind its stack');
console.log(JSON.stringify({
  samples: samples.length, weight: sum(samples, 'weight'), times: sum(samples, 'ts'), comms,
  calls: calls.length, open: calls.filter((row) => row.open).length, duration: sum(calls, 'dur'),
  functions: [...new Set(frames.map((row) => row.function))], threads: threads.length, self: sum(stacks, 'self'),
}));
process.exit(0);

import { execFileSync } from 'node:child_process';
import os from 'node:os';
import type { Spread } from './numbers';
import { reaches, type Row } from './row';

export interface Machine {
  cpu: string;
  cores: number;
  memoryGiB: number;
  system: string;
  node: string;
  redis: string;
}

export function describeMachine(): Machine {
  const redis = execFileSync('redis-server', ['--version'], { encoding: 'utf8' });
  return {
    cpu: os.cpus()[0]?.model.trim() ?? 'unknown',
    cores: os.cpus().length,
    memoryGiB: Math.round(os.totalmem() / 2 ** 30),
    system: `${os.type()} ${os.release()}`,
    node: process.version,
    redis: /v=(\S+)/.exec(redis)?.[1] ?? 'unknown',
  };
}

export function machineLine({ cpu, cores, memoryGiB, system, node, redis }: Machine): string {
  return `${cpu}, ${cores} cores, ${memoryGiB} GiB; ${system}; Node ${node}; Redis ${redis}`;
}

/** Load of the last minute: more than the cores means that others were at work. */
export function load(): number {
  return Math.round((os.loadavg()[0] ?? 0) * 100) / 100;
}

/** Memory of all services together, and of each. */
export function memoryLine(mib: Record<string, number>): string {
  const each = Object.entries(mib).map(([name, size]) => `${name} ${size}`);
  const sum = Object.values(mib).reduce((total, size) => total + size, 0);
  return `${sum} MiB (${each.join(', ')})`;
}

/** A Markdown table, times in ms. */
export function table(rows: readonly Row[]): string {
  const cells = rows.map((row) => [
    row.measure,
    ...spreadCells(row.floor),
    ...spreadCells(row.ours),
    targetCell(row),
    { true: 'ok', false: 'over', null: '' }[`${reaches(row)}`],
  ]);
  const head = ['ms', 'floor p50', 'p99', 'ours p50', 'p99', 'target', ''];
  const widths = head.map((title, column) =>
    Math.max(title.length, ...cells.map((row) => row[column]?.length ?? 0)),
  );
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, column) => pad(cell, widths[column] ?? 0, column)).join(' | ')} |`;
  const rule = `|${widths.map((width, column) => '-'.repeat(width + (isNumber(column) ? 1 : 2)) + (isNumber(column) ? ':' : '')).join('|')}|`;
  return [line(head), rule, ...cells.map(line)].join('\n');
}

function pad(cell: string, width: number, column: number): string {
  return isNumber(column) ? cell.padStart(width) : cell.padEnd(width);
}

function isNumber(column: number): boolean {
  return column >= 1 && column <= 4;
}

function spreadCells(spread: Spread | null): [string, string] {
  const show = (value: number) => (Number.isNaN(value) ? '' : value.toFixed(1));
  return spread === null ? ['', ''] : [show(spread.p50), show(spread.p99)];
}

function targetCell({ target }: Row): string {
  if (target === null) return '';
  if (target.timesFloor !== undefined) return `p50 ≤ ${target.timesFloor} × floor`;
  const p50 = `p50 ≤ ${target.overFloor ? 'floor + ' : ''}${target.p50}`;
  return target.p99 === undefined ? p50 : `${p50}, p99 ≤ ${target.p99}`;
}

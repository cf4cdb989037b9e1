import { stripVTControlCharacters } from 'node:util';

/** Rows as aligned columns, a heading above them. */
export function table(heading: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [heading, ...rows.map((row) => row.map(oneLine))];
  const widths = heading.map((_, column) =>
    Math.max(...lines.map((line) => (line[column] ?? '').length)),
  );
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Names and values below one another; what is empty is left out. */
export function facts(pairs: readonly (readonly [string, string | null | undefined])[]): string {
  const said = pairs.filter(([, value]) => value !== null && value !== undefined && value !== '');
  const width = Math.max(...said.map(([name]) => name.length));
  return said.map(([name, value]) => `${name.padEnd(width)}  ${oneLine(value ?? '')}`).join('\n');
}

function oneLine(cell: string): string {
  return stripVTControlCharacters(cell).replace(/\s+/g, ' ');
}

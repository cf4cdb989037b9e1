/** Sorts out `FLOWLY_*` names that nothing reads: those within two letters of a known one are mistakes. */
export function lookAlikes(given: string[], known: string[]) {
  const unknown = given.filter((name) => name.startsWith('FLOWLY_') && !known.includes(name));
  const mistaken: [string, string][] = [];
  const ignored: string[] = [];
  for (const name of unknown) {
    const meant = known.find((candidate) => editDistance(name, candidate) <= 2);
    if (meant === undefined) ignored.push(name);
    else mistaken.push([name, meant]);
  }
  return { ignored, mistaken };
}

/** Levenshtein distance: letters to insert, delete or replace. */
export function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, replaced));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

import { memberLabel, type GroupMember } from './member';

// The joiners U+200C and U+200D are part of words in Persian, Hindi and others.
const MENTION = /(?<=^|[\s([{])@([\p{L}\p{N}][\p{L}\p{M}\p{N}._\-\u200c\u200d]*)/gu;
const JOINERS = /[\u200c\u200d]/gu;
const NOT_SPOKEN = /[^\p{L}\p{M}\p{N}]/gu;

/**
 * The distinct handles that a text mentions, in NFC, in order, as written: a handle may end with `.`, `_`
 * or `-` that the writer meant as punctuation (groups.md §3.1–2). Linear in the text.
 */
export function findMentions(text: string): string[] {
  const handles = new Set<string>();
  for (const match of withoutCode(text).matchAll(MENTION)) {
    handles.add((match[1] ?? '').normalize('NFC'));
  }
  return [...handles];
}

/** The member that a handle names, by the order of groups.md §3.3; null if none or two that fit alike. */
export function resolveMention(handle: string, members: readonly GroupMember[]): string | null {
  return mentionResolver(members)(handle);
}

/** {@link resolveMention} for many handles of one text. */
export function mentionResolver(
  members: readonly GroupMember[],
): (handle: string) => string | null {
  const tiers = [
    index(members, (member) => member.name),
    index(members, (member) => member.name.replace(/[._-]/g, '')),
    index(members, (member) =>
      memberLabel(member.name, member.displayName).replace(NOT_SPOKEN, ''),
    ),
  ];
  return (handle) => {
    for (const form of handleForms(handle)) {
      const tier = tiers.find((names) => names.has(form));
      if (tier !== undefined) return tier.get(form) ?? null;
    }
    return null;
  };
}

/** The handle as it is compared, then without the dots it ends with, then without any final punctuation. */
export function handleForms(handle: string): string[] {
  const whole = fold(handle);
  return [whole, withoutEnd(whole, '.'), withoutEnd(whole, '._-')];
}

/** Compared text to member; a key that fits two members maps to null. */
function index(
  members: readonly GroupMember[],
  key: (member: GroupMember) => string,
): Map<string, string | null> {
  const names = new Map<string, string | null>();
  for (const member of members) {
    const text = fold(key(member));
    names.set(text, names.has(text) ? null : member.name);
  }
  return names;
}

/** Upper before lower case, so that letters with two lower forms (σ, ς) are one. */
function fold(text: string): string {
  const bare = text.replace(JOINERS, '').normalize('NFC');
  return bare.toUpperCase().toLowerCase().normalize('NFC');
}

/** Not a regular expression: `[._-]+$` is quadratic in text like `a.a.a.a`. */
function withoutEnd(text: string, marks: string): string {
  let end = text.length;
  while (end > 0 && marks.includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}

/** Some backticks in a row, and where the next run of as many ends. */
interface Run {
  start: number;
  end: number;
  closedAt: number | undefined;
}

/**
 * The text with one backtick in place of each code span. A span lies between two runs of equally many
 * backticks; a run without its partner is plain text.
 */
export function withoutCode(text: string): string {
  let kept = '';
  let from = 0;
  for (const { start, closedAt } of backtickRuns(text)) {
    if (start < from || closedAt === undefined) continue;
    kept += text.slice(from, start) + '`';
    from = closedAt;
  }
  return kept + text.slice(from);
}

function backtickRuns(text: string): Run[] {
  const runs: Run[] = [];
  for (let start = text.indexOf('`'); start >= 0; ) {
    let end = start + 1;
    while (text.charAt(end) === '`') end++;
    runs.push({ start, end, closedAt: undefined });
    start = text.indexOf('`', end);
  }
  const nextEnd = new Map<number, number>();
  for (const run of runs.toReversed()) {
    const length = run.end - run.start;
    run.closedAt = nextEnd.get(length);
    nextEnd.set(length, run.end);
  }
  return runs;
}

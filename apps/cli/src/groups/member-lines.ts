/** Where a line that has no end yet is broken. */
const WIDTH = 76;

/**
 * What several members say at once as lines of one output: each line is written whole, with its member's name, so that
 * no two are mixed. Pure: it is given the whole text of a member each time and says which lines are new.
 */
export class MemberLines {
  /** The text of each member so far, and where what is not written yet begins. */
  private readonly members = new Map<string, { text: string; from: number }>();

  /** Further lines of a member whose text is now `text`; what has no end yet waits. */
  grow(member: string, text: string): string[] {
    const known = this.members.get(member);
    // Another text: a tool's step began it anew.
    const left = known && !text.startsWith(known.text) ? this.end(member) : [];
    let from = this.members.get(member)?.from ?? 0;
    const lines: string[] = [];
    for (let length = next(text, from); length !== null; length = next(text, from)) {
      lines.push(text.slice(from, from + length).trimEnd());
      from += length;
    }
    this.members.set(member, { text, from });
    return [...left, ...lines];
  }

  /** The member has said all: what waited is its last line. */
  end(member: string): string[] {
    const { text = '', from = 0 } = this.members.get(member) ?? {};
    this.members.delete(member);
    const rest = text.slice(from).trimEnd();
    return rest === '' ? [] : [rest];
  }
}

function next(text: string, from: number): number | null {
  return lineLength(text.slice(from));
}

/** Length of the first whole line with what ends it; null when there is none yet. */
function lineLength(text: string): number | null {
  const newline = text.indexOf('\n');
  if (newline !== -1 && newline <= WIDTH) return newline + 1;
  if (text.length <= WIDTH) return null;
  const space = text.lastIndexOf(' ', WIDTH);
  if (space > 0) return space + 1;
  const next = text.search(/[ \n]/);
  return next === -1 ? null : next + 1;
}
